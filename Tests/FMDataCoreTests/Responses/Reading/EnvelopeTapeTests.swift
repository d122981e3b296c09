import CustomDump
import FMData
import Testing

@testable import FMDataCore

/// `messages` and `dataInfo` are read directly from the tape or through `Decodable`; both give the same values.
struct EnvelopeTapeTests {
    /// Values of the form that servers send, in any order and with additional members.
    private static let usualMessages = [
        #"[{"code":"0","message":"OK"}]"#, #"[{"message":"OK","code":"0"}]"#, "[]",
        #"[{"code":"101","message":"Nr. \"7\" é\u00e9"},{"code":"0","message":""}]"#,
        #"[{"code":"0","message":"OK","more":[{"code":"9"}],"code2":1}]"#,
        // A value that is spelled like a key is no key.
        #"[{"code":"message","message":"code"}]"#,
    ]

    /// Other values: ids as numbers, missing members, `null`, escaped and repeated keys, other kinds.
    private static let unusualMessages = [
        #"[{"code":"0"}]"#, #"[{"code":0,"message":"OK"}]"#, #"[{"code":"0","message":null}]"#,
        #"[{"code":"0","message":7}]"#, #"[{"\u0063ode":"0","message":"OK"}]"#,
        #"[{"code":"1","code":"0","message":"OK"}]"#, #"[{"message":"OK"}]"#, #"[{"code":null}]"#, #"[["code"]]"#,
        #"[{"code":"0","message":"OK"},{"code":"101"}]"#, #"{"code":"0"}"#, "7",
    ]

    private static let usualDataInfos = [
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
        #"{"returnedCount":2,"foundCount":5,"totalRecordCount":10,"table":"C","layout":"Ünïcode \"x\"","database":"A"}"#,
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":10,"foundCount":5,"returnedCount":2,"folder":{"table":"D"}}"#,
        #"{"database":"layout","layout":"table","table":"database","totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
    ]

    private static let unusualDataInfos = [
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":"10","foundCount":"5","returnedCount":"2"}"#,
        #"{"totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
        #"{"database":null,"layout":"B","table":"C","totalRecordCount":10,"foundCount":5,"returnedCount":2}"#,
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":10.0,"foundCount":5e0,"returnedCount":-2}"#,
        #"{"database":"A","layout":"B","table":"C","totalRecordCount":99999999999,"foundCount":5,"returnedCount":2}"#,
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

    /// Whether a value is read without `Decodable`. A context notes the type whose decoding begins.
    private func isReadFromTape<Value>(_ json: String, _ read: (DecodingContext) throws -> Value) throws -> Bool {
        let context = DecodingContext()
        try Array(json.utf8).withUnsafeBytes { try context.begin(whole: $0) }
        _ = try? read(context)
        return context.expectedType == Void.self
    }

    @Test(arguments: usualMessages) func usualMessagesAreReadFromTheTape(json: String) throws {
        expectNoDifference(try isReadFromTape(json, Message.list(readFrom:)), true)
    }

    @Test(arguments: usualDataInfos) func aUsualDataInfoIsReadFromTheTape(json: String) throws {
        expectNoDifference(try isReadFromTape(json, DataAPI.DataInfo.value(readFrom:)), true)
    }

    @Test(arguments: unusualMessages) func otherMessagesAreLeftToDecodable(json: String) throws {
        expectNoDifference(try isReadFromTape(json, Message.list(readFrom:)), false)
    }

    @Test(arguments: unusualDataInfos) func anotherDataInfoIsLeftToDecodable(json: String) throws {
        expectNoDifference(try isReadFromTape(json, DataAPI.DataInfo.value(readFrom:)), false)
    }

    @Test(arguments: usualMessages + unusualMessages) func messagesAreThoseOfDecodable(json: String) {
        let expected = try? FMDecoder().decode([DataAPI.Message].self, from: json.utf8)
        expectNoDifference(envelope(messages: json, dataInfo: nil)?.messages, expected)
    }

    @Test(arguments: usualDataInfos + unusualDataInfos) func dataInfoIsThatOfDecodable(json: String) {
        let expected = try? FMDecoder().decode(DataAPI.DataInfo.self, from: json.utf8)
        expectNoDifference(envelope(messages: Self.usualMessages[0], dataInfo: json)?.dataInfo, expected)
    }

    /// Some envelopes are read and some are refused, so the comparisons above compare both outcomes.
    @Test func someAreReadAndSomeRefused() {
        #expect(envelope(messages: Self.usualMessages[0], dataInfo: Self.usualDataInfos[0]) != nil)
        #expect(envelope(messages: "7", dataInfo: nil) == nil)
        #expect(envelope(messages: Self.usualMessages[0], dataInfo: "7") == nil)
    }
}
