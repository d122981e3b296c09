import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Refusals that consist of messages only, as recorded from servers.
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
                    "record(id:)",
                    layout.record(id: 1).returnAs(FieldData.self).map { _ in }.eraseToAnyPublisher()
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

    /// A success must have a `response`; one without it does not come from a Data API.
    @Test func aSuccessWithoutAResponseIsNone() throws {
        for messages in [#"[{"code":"0"}]"#, "[]"] {
            let failure = try #require(throws: DecodingFailure.self) { try read(#"{"messages":\#(messages)}"#) }
            #expect(failure.reason.contains("Data API"))
        }
        let (records, envelope) = try read(#"{"messages":[{"code":"802"}]}"#)
        #expect(records.isEmpty)
        expectNoDifference(envelope.messages.map(\.code), ["802"])
    }

    @Test(.tags(.fact)) func errorsComeWithMessagesOrAsThePageOfTheWebServer() async throws {
        try await World.run { world in
            let refused = await world.contacts.record(id: 999).returnAs(FieldData.self).awaitSingleResult()
                .failure
            expectNoDifference(refused?.fileMakerCode, .recordMissing)
            expectNoDifference(refused?.httpStatus, 500)
            world.sandbox.inject(.html(status: 503), on: .getRecord)
            let page = await world.contacts.record(id: 1).returnAs(FieldData.self).awaitSingleResult()
                .failure
            expectNoDifference(page?.code, .notDataAPI)
            expectNoDifference(page?.isRetryable, true)
        }
    }

    @Test(.tags(.earlierClients), arguments: [200, 201, 204, 500])
    func theCodeInTheMessagesDecidesAndEvery2xxMayBeASuccess(status: Int) async throws {
        try await ScriptedHost.run(answer: { call in
            call.number == 0
                ? .error(104, "Script is missing", status: 200)
                : .json(
                    status == 204 ? 202 : status,
                    #"{"response":{"scriptError":"0"},"messages":[{"code":"0"}]}"#
                )
        }) { host in
            let error = await host.layout.runScript("S").awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .scriptMissing)
            expectNoDifference(error?.httpStatus, 200)
            let value = try await host.layout.runScript("S").firstValue()
            expectNoDifference(value.scriptError, "0")
        }
    }

    /// An error has FileMaker's code, the HTTP status and the media type as separate properties.
    @Test(.tags(.earlierClients))
    func codeStatusAndMediaTypeStandSideBySide() async throws {
        try await ScriptedHost.run(answer: { call in call.number == 0 ? .error(301, "In use") : .html(502) }) {
            host in
            let refusal = await host.layout.runScript("S").awaitSingleResult().failure
            expectNoDifference(refusal?.fileMakerCode, .recordInUse)
            expectNoDifference(refusal?.httpStatus, 500)
            let page = await host.layout.runScript("S").awaitSingleResult().failure
            expectNoDifference(page?.code, .notDataAPI)
            expectNoDifference(page?.httpStatus, 502)
            expectNoDifference(page?.contentType, "text/html")
            #expect(page?.reason.contains("502") == true)
        }
    }

    @Test(.tags(.earlierClients), arguments: ["E-17", "", "99999999999999999999", "1 2"])
    func anOddCodeIsKeptAsText(code: String) async throws {
        let body = #"{"response":{},"messages":[{"code":"\#(code)","message":"odd"}]}"#
        try await ScriptedHost.run(answer: { _ in .json(500, body) }) { host in
            let error = await host.layout.runScript("S").awaitSingleResult().failure
            expectNoDifference(error?.code, .fileMaker)
            expectNoDifference(error?.fileMakerCode, nil)
            expectNoDifference(error?.messages, [.init(code: code, message: "odd")])
        }
    }

    @Test(.tags(.earlierClients))
    func anErrorWithAResponseOfAnotherShapeIsStillFileMakers() async throws {
        try await ScriptedHost.run(answer: { _ in
            .json(500, #"{"messages":[{"code":"105"}],"response":[1,"a",null]}"#)
        }) { host in
            let records = await host.layout.getRecords().returnAs(Contact.self).awaitSingleResult().failure
            expectNoDifference(records?.fileMakerCode, .layoutMissing)
            let created = await host.layout.createRecord().awaitSingleResult().failure
            expectNoDifference(created?.fileMakerCode, .layoutMissing)
        }
    }
}
