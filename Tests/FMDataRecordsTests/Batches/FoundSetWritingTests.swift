import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Writes to all records of a found set, whose number the caller has to give.
@Suite(.timeLimit(.minutes(15))) struct FoundSetWritingTests {
    private func run(
        count: Int,
        _ body: (DataAPI.TypedLayout<Member>, Sandbox) async throws -> Void
    ) async throws {
        try await Hosted.run(.people(count: count)) { try await body($0.layout(Member.self), $1) }
    }

    private func writes(_ sandbox: Sandbox) -> Int {
        [.createRecord, .editRecord, .deleteRecord].map { sandbox.counters.requests[$0] ?? 0 }.reduce(0, +)
    }

    @Test func asManyAsWereSaidAreDeleted() async throws {
        try await run(count: 250) { people, sandbox in
            let olds = people.find { $0(.name).contains("1") }
            let count = try await olds.count().firstValue()
            let summary = try await olds.deleteAll(.exactly(count)).summary.firstValue()
            expectNoDifference(summary.deletedCount, count)
            expectNoDifference(sandbox.people.count, 250 - count)
            #expect(sandbox.people.allSatisfy { $0.values["Name"]?.contains("1") == false })
            // No records are left, and zero is within `atMost`.
            let again = try await olds.deleteAll(.atMost(count)).summary.firstValue()
            expectNoDifference(again.deletedCount, 0)
            expectNoDifference(again.stop, nil)
        }
    }

    @Test(arguments: [DataAPI.ExpectedCount.exactly(2), .exactly(4), .atMost(2), .exactly(-1)])
    func anotherNumberWritesNothing(expected: DataAPI.ExpectedCount) async throws {
        try await run(count: 3) { people, sandbox in
            for batch in [
                people.find { $0(.name).contains("Old") }.deleteAll(expected),
                people.find { $0(.name).contains("Old") }.editAll(setting: ["City": "Kiel"], expected),
                people.find { $0(.name).contains("Old") }.deleteAll(expected, dryRun: true),
            ] {
                let error = await batch.outcome().failure
                expectNoDifference(error?.code, .countDiffers)
                #expect(error?.reason.contains("\(expected)") == true)
                // The rows are gone by then, and the summary tells the same.
                expectNoDifference(awaited: await batch.summary.outcome().failure?.code, .countDiffers)
            }
            expectNoDifference(writes(sandbox), 0)
            expectNoDifference(sandbox.people.count, 3)
        }
    }

    @Test func aDryRunTellsTheRowsAndWritesNothing() async throws {
        try await run(count: 5) { people, sandbox in
            let found = people.find { $0(.name).contains("Old") }.sorted(by: .name, .descending)
            let rows = try await found.deleteAll(.atMost(5), dryRun: true).outcome().get()
            expectNoDifference(rows.map(\.short), (0..<5).map { "\($0) skipped" })
            expectNoDifference(rows.map(\.recordId), [1, 2, 3, 4, 5])
            expectNoDifference(rows.map(\.key), ["1", "2", "3", "4", "5"])
            expectNoDifference(rows.map(\.result.modId), [0, 0, 0, 0, 0])
            let summary = try await found.editAll(setting: ["City": "Kiel"], .exactly(5), dryRun: true).summary
                .firstValue()
            expectNoDifference(summary.skippedCount, 5)
            expectNoDifference(writes(sandbox), 0)
        }
    }

    @Test func editsAreBasedOnWhatWasFound() async throws {
        struct Person: LayoutRecord {
            static let layout = "People"
            var name: String
            enum CodingKeys: String, CodingKey { case name = "Name" }
            struct Changes: RecordChanges {
                typealias Record = Person
                var city: String?
                enum CodingKeys: String, CodingKey { case city = "City" }
            }
        }
        try await run(count: 4) { people, sandbox in
            let all = people.layout.of(Person.self).find { $0(.name).contains("Old") }
            // Another client has changed the third record first.
            sandbox.inject(.error(.init(306)), on: .editRecord, skipping: 2, count: 1)
            let options = DataAPI.BatchOptions(concurrency: 1, order: .input)
            let rows = try await all.editAll(setting: Person.Changes(city: "Kiel"), .exactly(4), options: options)
                .outcome()
                .get()
            expectNoDifference(rows.map(\.short), ["0 edited", "1 edited", "2 failed 306", "3 edited"])
            expectNoDifference(sandbox.people.map { $0.values["City"] }, ["Kiel", "Kiel", nil, "Kiel"])
            let more = try await all.editAll(setting: ["City": "Rom"], .exactly(4), options: options).outcome().get()
            expectNoDifference(more.map(\.short), (0..<4).map { "\($0) edited" })
            expectNoDifference(sandbox.people.map(\.modId), [2, 2, 1, 2])
        }
    }

    // MARK: Journals

    private static let once = DataAPI.BatchOptions(concurrency: 1, order: .input, onFailure: .stop(after: 1))

    /// The records that were found first are written to, though the find has others by now.
    @Test func aRunIsTakenUpWithTheRecordsThatWereFoundFirst() async throws {
        try await run(count: 6) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let found = people.find { $0(.name).contains("Old") }
            sandbox.inject(.error(.init(301)), on: .deleteRecord, skipping: 2, count: nil)
            var options = Self.once
            options.retryTimeout = .zero
            let first = await found.deleteAll(.exactly(6), journal: journal, options: options).outcome().failure
            expectNoDifference(first?.batchSummary?.deletedCount, 2)
            sandbox.clearFaults()
            _ = try await people.create(Member(name: "Old and new")).firstValue()

            let second = try await found.deleteAll(.exactly(6), journal: journal, options: options).outcome().get()
            expectNoDifference(second.map(\.short), (0..<6).map { "\($0) deleted" })
            expectNoDifference(second.map(\.isFromJournal), [true, true, false, false, false, false])
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Old and new"])
            let contents = try await journal.contents()
            expectNoDifference(contents.doneRows, Array(0..<6))
            expectNoDifference(contents.layout, "People")
        }
    }

    @Test func editsThatAreTakenUpAreBasedOnWhatWasFoundFirst() async throws {
        try await run(count: 4) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let found = people.find { $0(.city).isEmpty }
            sandbox.inject(.error(.init(105)), on: .editRecord, skipping: 2, count: 1)
            let options = DataAPI.BatchOptions(concurrency: 1, order: .input)
            _ = await found.editAll(setting: ["City": "Kiel"], .exactly(4), journal: journal, options: options)
                .outcome()
            expectNoDifference(sandbox.people.map { $0.values["City"] }, ["Kiel", "Kiel", nil, nil])
            // Another client changes a record that is still to be edited.
            _ = try await people.edit(3, setting: ["Name": "New"]).firstValue()
            let rows = try await found.editAll(
                setting: ["City": "Kiel"],
                .exactly(4),
                journal: journal,
                options: options
            )
            .outcome().get()
            expectNoDifference(rows.map(\.short), ["0 edited", "1 edited", "2 failed 306", "3 edited"])
            expectNoDifference(sandbox.people.map(\.modId), [1, 1, 1, 1])
        }
    }

    @Test func aJournalOfAnotherFindIsForeign() async throws {
        try await run(count: 3) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let found = people.find { $0(.name).contains("Old") }
            _ = try await found.editAll(setting: ["City": "Kiel"], .exactly(3), journal: journal).outcome().get()
            let before = writes(sandbox)
            for batch in [
                found.deleteAll(.exactly(3), journal: journal),
                found.editAll(setting: ["City": "Rom"], .exactly(3), journal: journal),
                people.find { $0(.name) == "Old 1" }.editAll(setting: ["City": "Kiel"], .exactly(1), journal: journal),
                people.allRecords.editAll(setting: ["City": "Kiel"], .exactly(3), journal: journal),
            ] {
                let error = await batch.outcome().failure
                expectNoDifference((error?.underlying as? DataAPI.WriteJournalError)?.reason, .foreign)
            }
            expectNoDifference(writes(sandbox), before)
            let again = try await found.editAll(setting: ["City": "Kiel"], .exactly(3), journal: journal).summary
                .firstValue()
            expectNoDifference(again.journalCount, 3)
        }
    }

    @Test func aSetThatChangesWhileItIsListedIsLeftAlone() async throws {
        try await run(count: 3) { people, sandbox in
            let found = people.find { $0(.name).contains("Old") }
            // The count is requested first, then the list.
            sandbox.inject(.error(.init(401)), on: .find, skipping: 1, count: 1)
            let error = await found.deleteAll(.exactly(3)).outcome().failure
            expectNoDifference(error?.code, .countDiffers)
            #expect(error?.reason.contains("3 records were counted, and then 0") == true)
            expectNoDifference(sandbox.people.count, 3)
        }
    }
}
