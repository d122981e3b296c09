import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Runs that resume with a journal that has lost its end, or with rows in other places than before.
@Suite(.timeLimit(.minutes(15))) struct JournalLossTests {
    private typealias Write = DataAPI.RecordWrite<Member>

    private static let options = DataAPI.BatchOptions(
        idempotencyKey: "UUID",
        retryTimeout: .milliseconds(1),
        settlingTime: .milliseconds(1)
    )

    /// A file that does not refuse a second record with the same key.
    private static let solution = Solution.single(
        "People",
        fields: [.init("Name", validation: .init(notEmpty: true)), .init("City"), .init("UUID")],
        layoutFields: ["Name", "City", "UUID"]
    )

    private static func run(_ body: (DataAPI.TypedLayout<Member>, Sandbox) async throws -> Void) async throws {
        try await Hosted.run(solution, client: { $0.sessions.maximumSessions = 4 }) {
            try await body($0.layout(Member.self), $1)
        }
    }

    private static func rows(of batch: DataAPI.Batch) async throws -> [DataAPI.BatchRow] {
        try await batch.outcome().get().sorted { $0.index < $1.index }
    }

    private static func keys(_ sandbox: Sandbox) -> [String] {
        sandbox.people.compactMap { $0.values["UUID"] }.sorted()
    }

    // MARK: A lost end

    /// Where the bytes of a journal can be cut: at the end of each line, and inside it.
    private static func cuts(of bytes: Data) -> [Int] {
        let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
        return ends.flatMap { [$0 - 9, $0] }
    }

    @Test func whatAJournalHasLostIsLookedUpBeforeItIsSent() async throws {
        try await withTemporaryFolder { folder in
            try await Self.run { people, sandbox in
                let url = folder.appendingPathComponent("writes.journal")
                let writes = (0..<6).map { Write.create(Member(name: "Member \($0)", uuid: "key-\($0)")) }
                _ = try await Self.rows(of: people.writing(writes, journal: .file(url), options: Self.options))
                let whole = try Data(contentsOf: url)
                for cut in [0] + Self.cuts(of: whole) {
                    try whole.prefix(cut).write(to: url)
                    let rows = try await Self.rows(
                        of: people.writing(writes, journal: .file(url), options: Self.options)
                    )
                    expectNoDifference(rows.map(\.short), (0..<6).map { "\($0) created" }, "cut at \(cut)")
                    expectNoDifference(Self.keys(sandbox), (0..<6).map { "key-\($0)" }, "cut at \(cut)")
                }
            }
        }
    }

    /// The key that a batch gives to a row follows from the row, its place and the beginning of the journal.
    @Test func aKeyThatWasMadeIsFoundAgainWithoutItsLine() async throws {
        try await withTemporaryFolder { folder in
            try await Self.run { people, sandbox in
                let url = folder.appendingPathComponent("writes.journal")
                let writes = Member.numbered(0..<6).map(Write.create)
                _ = try await Self.rows(of: people.writing(writes, journal: .file(url), options: Self.options))
                let keys = Self.keys(sandbox)
                expectNoDifference(Set(keys).count, 6)
                let whole = try Data(contentsOf: url)
                for cut in Self.cuts(of: whole).dropFirst() {
                    try whole.prefix(cut).write(to: url)
                    let rows = try await Self.rows(
                        of: people.writing(writes, journal: .file(url), options: Self.options)
                    )
                    expectNoDifference(rows.map(\.short), (0..<6).map { "\($0) created" }, "cut at \(cut)")
                    expectNoDifference(Self.keys(sandbox), keys, "cut at \(cut)")
                }
            }
        }
    }

    // MARK: Rows in other places

    @Test func aRowThatHasMovedIsNotSent() async throws {
        try await Self.run { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes = (0..<40).map { Write.create(Member(name: "Member \($0)", uuid: "key-\($0)")) }
            sandbox.inject(.error(.init(105)), on: .createRecord, skipping: 11, count: 1)
            _ = await people.writing(writes, journal: journal, options: Self.options).outcome()
            let before = Set(Self.keys(sandbox))
            #expect(before.count >= 11 && before.count < 40)

            let moved = try await Self.rows(
                of: people.writing(writes.reversed(), journal: journal, options: Self.options)
            )
            expectNoDifference(Set(Self.keys(sandbox)).count, sandbox.people.count)
            for row in moved where before.contains("key-\(39 - row.index)") {
                expectNoDifference(row.short, "\(row.index) failed invalidRequest")
                #expect(row.error?.reason.contains("row \(39 - row.index)") == true)
                #expect(row.error?.reason.contains("row \(row.index)") == true)
            }
            expectNoDifference(moved.filter(\.isDone).count, sandbox.people.count - before.count)
        }
    }

    @Test func aRowThatFailedMayMove() async throws {
        try await Self.run { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes = [Write.create(Member(name: "", uuid: "a")), .create(Member(name: "Ben", uuid: "b"))]
            let first = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(first.map(\.short), ["0 failed 509", "1 created"])
            var options = Self.options
            options.retriesRefused = true
            let others = [
                Write.create(Member(name: "Ada", uuid: "c")), writes[1], .create(Member(name: "Cy", uuid: "a")),
            ]
            let second = try await Self.rows(of: people.writing(others, journal: journal, options: options))
            expectNoDifference(second.map(\.short), ["0 created", "1 created", "2 created"])
            expectNoDifference(Self.keys(sandbox), ["a", "b", "c"])
        }
    }

    // MARK: What a journal keeps of a refusal

    @Test func theFieldsOfARefusalAreToldAgain() async throws {
        try await Self.run { people, _ in
            let journal = DataAPI.WriteJournal.memory()
            let writes = [Write.create(Member(name: "", uuid: "a"))]
            for _ in 0..<2 {
                let rows = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
                expectNoDifference(rows.map(\.short), ["0 failed 509"])
                expectNoDifference(rows[0].error?.fields, ["Name"])
            }
        }
    }
}
