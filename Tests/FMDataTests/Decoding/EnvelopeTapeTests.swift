import CustomDump
import Testing

@testable import FMData

/// `messages` and `dataInfo` are read directly from the tape or through `Decodable`; both give the same values.
struct EnvelopeTapeTests {
    /// Ordinary values and others: another order, additional members, ids as text, missing members, `null`, escaped and
    /// repeated keys.
    private static let messages = [
        #"[{"code":"0","message":"OK"}]"#, #"[{"message":"OK","code":"0"}]"#, #"[{"code":"0"}]"#,
        #"[{"code":0,"message":"OK"}]"#,
        #"[{"code":"0","message":null}]"#, #"[{"code":"0","message":7}]"#,
        #"[{"code":"101","message":"Nr. \"7\" é\u00e9"},{"code":"0","message":""}]"#,
        #"[{"code":"0","message":"OK","more":[{"code":"9"}],"code2":1}]"#, #"[{"\u0063ode":"0","message":"OK"}]"#,
        #"[{"code":"1","code":"0","message":"OK"}]"#, "[]", #"[{"message":"OK"}]"#, #"[{"code":null}]"#, #"[["code"]]"#,
        #"{"code":"0"}"#, "7",
    ]

    private static let dataInfos = [
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
        #"{"returnedCount":2,"foundCount":5,"totalRecordCount":10,"table":"C","layout":"Ünïcode \"x\"","database":"A"}"#,
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":"10","foundCount":"5","returnedCount":"2"}"#,
        #"{"totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
        #"{"database":null,"layout":"B","table":"C","totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":10.0,"foundCount":5e0,"returnedCount":-2}"#,
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":99999999999,"foundCount":5,"returnedCount":2}"#,
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":10,"foundCount":5,"returnedCount":2,"folder":{"table":"D"}}"#,
        #"{"database":"A","layout":"B","table":"C","table":"D","totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
        #"{"database":"A","layout":"B","t\u0061ble":"C","totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":10,"foundCount":5}"#,
        #"{"database":7,"layout":"B","table":"C","totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":"many","foundCount":5,"returnedCount":2}"#, "{}",
        "[]", "7",
    ]

    private func envelope(messages: String, dataInfo: String?) -> RecordResponseEnvelope? {
        let info = dataInfo.map { #""dataInfo":\#($0),"# } ?? ""
        let answer = #"{"response":{\#(info)"data":[]},"messages":\#(messages)}"#
        return try? read(Array(answer.utf8)).envelope
    }

    @Test(arguments: messages) func messagesAreThoseOfDecodable(json: String) {
        let expected = try? FMDecoder().decode([DataAPI.Message].self, from: json.utf8)
        expectNoDifference(envelope(messages: json, dataInfo: nil)?.messages, expected)
    }

    @Test(arguments: dataInfos) func dataInfoIsThatOfDecodable(json: String) {
        let expected = try? FMDecoder().decode(DataAPI.DataInfo.self, from: json.utf8)
        expectNoDifference(envelope(messages: Self.messages[0], dataInfo: json)?.dataInfo, expected)
    }

    /// Some envelopes are read and some are refused, so the comparisons above compare both outcomes.
    @Test func someAreReadAndSomeRefused() {
        #expect(envelope(messages: Self.messages[0], dataInfo: Self.dataInfos[0]) != nil)
        #expect(envelope(messages: "7", dataInfo: nil) == nil)
        #expect(envelope(messages: Self.messages[0], dataInfo: "7") == nil)
    }
}
