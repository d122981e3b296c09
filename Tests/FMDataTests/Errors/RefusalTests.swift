import CustomDump
import FMTestSupport
import OpenCombine
import Testing

@testable import FMData

/// Refusals that have messages and nothing else, as servers were recorded to send.
@Suite(.timeLimit(.minutes(15))) struct RefusalTests {
    private static func refusal(_ code: String, _ status: Int = 500) -> [FaultServer.Step] {
        [FaultServer.Step].json(status, #"{"messages":[{"code":"\#(code)","message":"No"}]}"#)
    }

    @Test func everyCallThatReadsRecordsKeepsTheCode() async throws {
        try await ScriptedHost.run(answer: { _ in Self.refusal("802") }) { host in
            let layout = host.layout
            let query = DataAPI.FindQuery(query: [["Name": "Ada"]])
            let calls: [(String, AnyPublisher<Void, FMRest.APIError>)] = [
                ("getRecords", layout.getRecords().returnAs(FieldData.self).map { _ in }.eraseToAnyPublisher()),
                (
                    "getRecordById",
                    layout.getRecordById(recordId: 1).returnAs(FieldData.self).map { _ in }.eraseToAnyPublisher()
                ),
                (
                    "findRecords",
                    layout.findRecords(query: query).returnAs(FieldData.self).map { _ in }.eraseToAnyPublisher()
                ),
                ("records", layout.records(FieldData.self).map { _ in }.eraseToAnyPublisher()),
                (
                    "records of a find",
                    layout.records(FieldData.self, findQuery: query).map { _ in }.eraseToAnyPublisher()
                ),
            ]
            for (name, call) in calls {
                let error = try await #require(throws: FMRest.APIError.self, "\(name)") {
                    _ = try await call.firstValue()
                }
                expectNoDifference(error.code, .fileMaker, "\(name)")
                expectNoDifference(error.fileMakerCode?.rawValue, 802, "\(name)")
                expectNoDifference(error.messages, [DataAPI.Message(code: "802", message: "No")], "\(name)")
            }
        }
    }

    @Test func anEmptyFindIsEmpty() async throws {
        try await ScriptedHost.run(answer: { _ in Self.refusal("401") }) { host in
            let found = try await host.layout.findRecords(query: DataAPI.FindQuery(query: [["Name": "Ada"]]))
                .returnAs(FieldData.self).firstValue()
            expectNoDifference(found.data.count, 0)
        }
    }

    /// A success says what it is a success of.
    @Test func aSuccessWithoutAResponseIsNone() throws {
        for messages in [#"[{"code":"0"}]"#, "[]"] {
            let failure = try #require(throws: DecodingFailure.self) { try read(#"{"messages":\#(messages)}"#) }
            #expect(failure.reason.contains("Data API"))
        }
        let (records, envelope) = try read(#"{"messages":[{"code":"802"}]}"#)
        #expect(records.isEmpty)
        expectNoDifference(envelope.messages.map(\.code), ["802"])
    }
}
