import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Keys that the file changes as they are entered.
@Suite(.timeLimit(.minutes(15))) struct BatchKeyTests {
    private static func run(
        _ formula: String,
        _ body: (DataAPI.TypedLayout<Member>, Sandbox) async throws -> Void
    ) async throws {
        let solution = Solution.single(
            "People",
            fields: [
                .init("Name"), .init("City"), .init("UUID", autoEnter: .calculation(formula, replacesExisting: true)),
            ],
            layoutFields: ["Name", "City", "UUID"]
        )
        try await Hosted.run(solution) { try await body($0.layout(Member.self), $1) }
    }

    private static func rows(
        _ people: DataAPI.TypedLayout<Member>,
        _ write: DataAPI.RecordWrite<Member>
    ) async throws -> [DataAPI.BatchRow] {
        let options = DataAPI.BatchOptions(
            idempotencyKey: "UUID",
            retryTimeout: .seconds(60),
            settlingTime: .milliseconds(1)
        )
        return try await people.writing([write], options: options).outcome().get()
    }

    private static let formulas = ["Upper ( UUID )", "Lower ( UUID )", #"Substitute ( UUID ; "é" ; "e" )"#]

    @Test(arguments: formulas) func aKeyThatTheFileChangesIsNotWrittenTwice(formula: String) async throws {
        try await Self.run(formula) { people, sandbox in
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 3)
            let created = try await Self.rows(people, .create(Member(name: "Ada", uuid: "Bé-0")))
            expectNoDifference(created.map(\.short), ["0 unknown"])
            let upserted = try await Self.rows(people, .upsert(Member(name: "Ben", uuid: "Bé-1"), by: .uuid))
            expectNoDifference(upserted.map(\.short), ["0 unknown"])
            let single = await people.upsert(Member(name: "Cy", uuid: "Bé-2"), by: .uuid).awaitSingleResult().failure
            for error in [created[0].error, upserted[0].error, single] {
                expectNoDifference(error?.outcomeIsUnknown, true)
                #expect(error?.reason.contains("another spelling") == true)
            }
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Ada", "Ben", "Cy"])
        }
    }

    /// Another client's record has other values, and a create makes one beside it.
    @Test func aCreateThatIsNotThereIsSentAgain() async throws {
        try await Self.run("Upper ( UUID )") { people, sandbox in
            _ = try await people.create(Member(name: "Stranger", uuid: "b-0")).firstValue()
            sandbox.inject(.reset, on: .createRecord)
            let rows = try await Self.rows(people, .create(Member(name: "Ada", uuid: "b-0")))
            expectNoDifference(rows.map(\.short), ["0 created"])
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Stranger", "Ada"])
        }
    }

    @Test func anUpsertThatIsRunTwiceMakesNoSecondRecord() async throws {
        try await Self.run("Upper ( UUID )") { people, sandbox in
            var ada = Member(name: "Ada", uuid: "b-0")
            let first = try await Self.rows(people, .upsert(ada, by: .uuid))
            expectNoDifference(first.map(\.short), ["0 created"])
            ada.city = "Bath"
            let second = try await Self.rows(people, .upsert(ada, by: .uuid))
            expectNoDifference(second.map(\.short), ["0 failed invalidRequest"])
            let single = await people.upsert(ada, by: .uuid).awaitSingleResult().failure
            for error in [second[0].error, single] {
                expectNoDifference(error?.code, .invalidRequest)
                #expect(error?.reason.contains("another spelling") == true)
            }
            ada.uuid = "B-0"
            let spelled = try await Self.rows(people, .upsert(ada, by: .uuid))
            expectNoDifference(spelled.map(\.short), ["0 edited"])
            expectNoDifference(sandbox.people.map { $0.values["City"] }, ["Bath"])
        }
    }
}
