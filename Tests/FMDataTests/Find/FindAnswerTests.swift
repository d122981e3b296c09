import CustomDump
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMData

/// Finds as they go on the wire, and answers without a record.
@Suite(.timeLimit(.minutes(15))) struct FindAnswerTests {
    @Test(.tags(.fact)) func anEmptyFindIs401WithStatus500AndABadTokenIs952WithStatus401() async throws {
        try await World.run { world in
            let empty = await world.contacts.findRecords(
                query: FindQuery(query: [["Name": "==Nobody"]], noMatch: .failure)
            )
            .returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(empty?.fileMakerCode, .noRecordsMatch)
            expectNoDifference(empty?.httpStatus, 500)
            let token = await world.database.server.validateSession(credentials: Credentials(token: "deadbeef"))
                .awaitSingleResult().failure
            expectNoDifference(token?.fileMakerCode, .invalidToken)
            expectNoDifference(token?.httpStatus, 401)
        }
    }

    @Test(.tags(.earlierClients))
    func noMatchIsAnAnswer() async throws {
        try await World.run { world in
            let response = try await world.contacts.findRecords(query: FindQuery(query: [["Name": "==Nobody"]]))
                .returnAs(Contact.self).firstValue()
            expectNoDifference(response.data, [])
        }
    }

    @Test(.tags(.earlierClients))
    func portalsOfAFindAreNamedInItsBodyAsTheyAre() async throws {
        try await ScriptedHost.run(answer: { _ in .json(#"{"data":[]}"#) }) { host in
            _ = try await host.layout.findRecords(
                query: FindQuery(query: [["a": "b"]], portal: [PortalRequest(name: "P & Q", limit: 3, offset: 2)])
            ).returnAs(FieldData.self).firstValue()
            expectNoDifference(host.calls.last?.target.contains("?"), false)
            expectNoDifference(
                host.calls.last?.text,
                #"{"limit.P & Q":"3","offset.P & Q":"2","portal":["P & Q"],"query":[{"a":"b"}]}"#
            )
        }
    }

    @Test(
        .tags(.earlierClients),
        arguments: [
            "\\", "~", "//", "...", "..", "…", "@", "#", "*", "?", "!", "=", "==", "<", ">", "≤", "≥", "\"", "{a}",
            "a@b.c",
        ]
    )
    func everyCharacterThatFileMakerTakesForAnOperatorIsEscaped(text: String) async throws {
        enum Key: String, CodingKey { case name = "Name" }
        try await World.run { world in
            let name = "Q\(text)Q"
            let made = try await world.contacts.createRecord(record: EditRecord(createRecord: ["Name": name]))
                .firstValue()
            let find = DataAPI.Find(Key.self) { $0(.name) == name }
            let found = try await world.contacts.findRecords(
                query: FindQuery(query: find.requests().map(\.dictionary))
            )
            .returnAs(FieldData.self).firstValue()
            expectNoDifference(found.data.map(\.recordId), [made.recordId])
        }
    }
}
