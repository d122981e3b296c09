import CustomDump
import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

@Suite struct EnvelopeReaderTests {
    private struct Session: Decodable, Equatable {
        var token: String
    }

    private func decode<T: Decodable>(_ type: T.Type, _ json: String) throws -> (messages: [Message], response: T) {
        let reader = EnvelopeReader(context: DecodingContext())
        return (try messages(Array(json.utf8), reader), try reader.response(type))
    }

    private func messages(_ body: [UInt8], _ reader: borrowing EnvelopeReader) throws -> [Message] {
        try body.withUnsafeBytes { try reader.messages(of: $0) }
    }

    @Test func messagesAndResponseInAnyOrder() throws {
        for json in [
            #"{"response":{"token":"t"},"messages":[{"code":"0","message":"OK"}]}"#,
            #"{"messages":[{"message":"OK","code":0}],"more":[1],"response":{"token":"t"}}"#,
            "\u{FEFF}{\"messages\":[{\"message\":\"OK\",\"code\":\"0\"}],\"response\":{\"token\":\"t\"}}",
        ] {
            let (messages, response) = try decode(Session.self, json)
            #expect(messages == [Message(code: "0", message: "OK")])
            #expect(response == Session(token: "t"))
        }
    }

    @Test func messagesOfARefusalComeWithoutAResponse() throws {
        let bytes = Array(#"{"messages":[{"code":"952x"},{"code":800,"message":7}],"response":{}}"#.utf8)
        let reader = EnvelopeReader(context: DecodingContext())
        #expect(try messages(bytes, reader) == [Message(code: "952x"), Message(code: "800", message: "7")])
        let failure = try #require(throws: DecodingFailure.self) { try reader.response(Session.self) }
        #expect(failure.path == ["response", "token"])
    }

    @Test(arguments: [
        "", "[]", "{}", "null", "<html></html>", #"{"response":{}}"#, #"{"messages":[{}]}"#, #"{"messages":[]"#,
    ])
    func otherBodiesAreErrors(_ json: String) {
        #expect(throws: DecodingFailure.self) { try decode(Session.self, json) }
    }

    @Test func messagesOfSavedAnswers() throws {
        for answer in SavedAnswer.own where answer.group == "errors" && answer.isJSON {
            #expect(try !messages(answer.bytes(), EnvelopeReader(context: DecodingContext())).isEmpty)
        }
        let reader = EnvelopeReader(context: DecodingContext())
        _ = try messages(SavedAnswer.named("session/login-51-character-token").bytes(), reader)
        #expect(try reader.response(Session.self).token.isEmpty == false)
    }

    /// `RecordResponse` can also be decoded as an ordinary `Decodable`: with FMData's decoder, whose rules for fields
    /// apply to its records, and with Foundation's.
    @Test func wholeResponses() throws {
        struct Plain: Decodable, Equatable { var n: Int }
        let json = """
            {"data":[{"fieldData":{"n":1},"portalData":{"p":[{"recordId":"3"}]},"recordId":"1","modId":2}],
            "dataInfo":{"totalRecordCount":"9","foundCount":1,"returnedCount":1},"scriptError":0,"scriptResult.presort":"r"}
            """
        let expected = DataAPI.RecordResponse<Plain, [String: [[String: String]]]>(
            data: [.init(fieldData: Plain(n: 1), portalData: ["p": [["recordId": "3"]]], recordId: 1, modId: 2)],
            dataInfo: DataAPI.DataInfo(
                database: "",
                layout: "",
                table: "",
                totalRecordCount: 9,
                foundCount: 1,
                returnedCount: 1
            ),
            scriptResponse: DataAPI.ScriptResponse(scriptError: "0", scriptResultPreSort: "r")
        )
        expectNoDifference(try JSONDecoder().decode(type(of: expected), from: Data(json.utf8)), expected)
        expectNoDifference(try FMDecoder().decode(type(of: expected), from: json.utf8), expected)
        let lenient = json.replacingOccurrences(of: "\"n\":1", with: "\"n\":\"1\"")
        expectNoDifference(try FMDecoder().decode(type(of: expected), from: lenient.utf8), expected)
        #expect(throws: (any Error).self) { try JSONDecoder().decode(type(of: expected), from: Data(lenient.utf8)) }
    }

    @Test func savedAnswers() throws {
        typealias Response = DataAPI.RecordResponse<FieldData, [String: [FieldData]]>
        let body = try SavedAnswer.named("record-get/one-record-two-portals-2025").bytes()
        let response = try FMDecoder().decodeAnswer(Response.self, from: body)
        #expect(response.dataInfo.database == "FERRY_CARE_v2")
        #expect(response.data.first?.portalData?["finding"]?.first?["finding::no"] == 410)
        let refusal = try SavedAnswer.named("errors/952-invalid-token").bytes()
        let failure = try #require(throws: DecodingFailure.self) {
            try FMDecoder().decodeAnswer(Response.self, from: refusal)
        }
        #expect(failure.reason.contains("952"))
    }
}
