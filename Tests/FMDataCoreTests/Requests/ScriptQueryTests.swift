import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Testing

@testable import FMDataCore

/// A call without a body sends script parameters in its URL, where proxies and logs can read them.
@Suite(.timeLimit(.minutes(15))) struct ScriptQueryTests {
    struct Fields: Codable, Sendable {
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    @Test func aConfidentialParameterStaysOutOfAURL() async throws {
        try await World.run { world in
            let script = ScriptQuery(script: "Echo", scriptParam: "0000-secret", isConfidential: true)
            let contacts = world.contacts
            let errors = [
                await contacts.getRecords(recordQuery: RecordQuery(script: script)).returnAs(FieldData.self)
                    .awaitSingleResult().failure,
                await contacts.record(id: 1, query: RecordQuery(script: script))
                    .returnAs(FieldData.self).awaitSingleResult().failure,
                await contacts.deleteRecord(recordId: 1, scriptQuery: script).awaitSingleResult().failure,
                await contacts.records(FieldData.self, recordQuery: RecordQuery(script: script)).awaitSingleResult()
                    .failure,
            ]
            for error in errors {
                expectNoDifference(error?.code, .invalidRequest)
                #expect(error?.hint?.contains("findRecords") == true)
                #expect(error.map { "\($0)" }?.contains("secret") == false)
            }
            var dumped = ""
            dump(script, to: &dumped)
            #expect(!"\(script)\(dumped)".contains("secret") && dumped.contains("Echo"))
            expectNoDifference(world.sandbox.counters.logins, 0)

            let found = try await contacts.findRecords(query: FindQuery(query: [["Name": "*"]], script: script))
                .returnAs(FieldData.self).firstValue()
            expectNoDifference(found.scriptResponse?.scriptResult, "0000-secret")
            let made = try await contacts.createRecord(Fields(name: "a"), script: script).firstValue()
            expectNoDifference(made.scriptResponse?.scriptResult, "0000-secret")
            // Without a parameter there is nothing confidential.
            let plain = ScriptQuery(script: "Echo", isConfidential: true)
            _ = try await contacts.deleteRecord(recordId: made.recordId, scriptQuery: plain).firstValue()
        }
    }

    @Test func aParameterThatIsTooLongForAURLIsRefused() async throws {
        try await World.run { world in
            let long = ScriptQuery(script: "Echo", scriptParam: String(repeating: "ab", count: 1_000))
            let error = await world.contacts.getRecords(recordQuery: RecordQuery(script: long, limit: 1))
                .returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            #expect(error?.reason.contains("2000") == true)
            #expect(error?.hint?.contains("runScript") == true)
            let short = ScriptQuery(script: "Echo", scriptParam: String(repeating: "a", count: 1_500))
            let read = try await world.contacts.getRecords(recordQuery: RecordQuery(script: short, limit: 1))
                .returnAs(FieldData.self).firstValue()
            expectNoDifference(read.scriptResponse?.scriptResult?.count, 1_500)
        }
    }
}
