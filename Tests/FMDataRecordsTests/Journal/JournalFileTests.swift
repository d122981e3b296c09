import CustomDump
import FMData
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// A journal on a disk: what is stored, who may use it, and what happens to one that is cut off, damaged or belongs to
/// other writes.
@Suite(.timeLimit(.minutes(15))) struct JournalFileTests {
    private static let header = JournalHeader(salt: Array(0..<16), origin: "o", database: "d", layout: "l")
    private static let digest = RowDigest(salt: [], write: "x")
    private typealias Opened = Result<EarlierRuns, FMRest.APIError>

    private static func open(_ url: URL, _ header: JournalHeader = header) async -> (JournalWriter, Opened) {
        let writer = JournalWriter(.file(url))
        return await withCheckedContinuation { continuation in
            writer.open(header) { continuation.resume(returning: (writer, $0)) }
        }
    }

    private static func close(_ writer: JournalWriter) async {
        await withCheckedContinuation { continuation in writer.close { continuation.resume() } }
    }

    private static func note(_ entry: JournalEntry, _ writer: JournalWriter) async -> Result<Void, FMRest.APIError> {
        await withCheckedContinuation { continuation in
            writer.note(entry) { continuation.resume(returning: $0) }
            writer.flush()
        }
    }

    private static func reason(_ opened: Opened) -> DataAPI.WriteJournalError.Reason? {
        guard case .failure(let error) = opened else { return nil }
        expectNoDifference(error.code, .journal)
        return (error.underlying as? DataAPI.WriteJournalError)?.reason
    }

    @Test func whatIsNotedIsThereForTheNext() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("writes.journal")
            let (first, new) = await Self.open(url)
            expectNoDifference(try new.get().state, JournalState(Self.header))
            try await Self.note(.attempt(row: 0, Self.digest, key: "k", over: nil), first).get()
            // No call waits for these lines. They are written before the journal is closed.
            first.note(.outcome(row: 0, nil, .init(kind: .created, recordId: 1)))
            first.note(.attempt(row: 1, Self.digest, key: nil, over: nil))
            await Self.close(first)

            let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
            expectNoDifference(mode, 0o600)
            let (second, old) = await Self.open(url)
            let state = try old.get().state
            // The last line says that the run has ended.
            expectNoDifference(state.lineCount, 5)
            expectNoDifference(try old.get().mayMissRows, false)
            expectNoDifference(state.rows[0]?.phase, .done(.init(kind: .created, recordId: 1)))
            expectNoDifference(state.rows[1]?.phase, .open(over: nil))
            await Self.close(second)
        }
    }

    @Test(.thorough) func oneRunAtATimeHasIt() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("writes.journal")
            let (first, _) = await Self.open(url)
            let (_, second) = await Self.open(url)
            expectNoDifference(Self.reason(second), .inUse)
            await Self.close(first)
            let (third, opened) = await Self.open(url)
            #expect(throws: Never.self) { try opened.get() }
            await Self.close(third)
        }
    }

    @Test func aTornEndIsCutAndTold() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("writes.journal")
            let (first, _) = await Self.open(url)
            try await Self.note(.attempt(row: 0, Self.digest, key: nil, over: nil), first).get()
            await Self.close(first)
            let whole = try Data(contentsOf: url)
            try (whole + Data("3 attempt 1".utf8)).write(to: url)

            let (second, torn) = await Self.open(url)
            expectNoDifference(try torn.get().cutBytes, 11)
            try await Self.note(.withdrawn(row: 0), second).get()
            await Self.close(second)
            let (third, again) = await Self.open(url)
            expectNoDifference(try again.get().state.rows[0]?.phase, .free)
            expectNoDifference(try again.get().cutBytes, 0)
            // That something may be missing is known for good.
            expectNoDifference(try again.get().mayMissRows, true)
            await Self.close(third)
        }
    }

    /// A journal without its last line has lost its end, or its run was killed. A run that does nothing closes it
    /// with the same doubt.
    @Test func anEndThatIsMissingIsTold() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("writes.journal")
            let (first, _) = await Self.open(url)
            try await Self.note(.attempt(row: 0, Self.digest, key: nil, over: nil), first).get()
            await Self.close(first)
            let whole = try Data(contentsOf: url)
            let (second, same) = await Self.open(url)
            expectNoDifference(try same.get().mayMissRows, false)
            await Self.close(second)
            expectNoDifference(try Data(contentsOf: url), whole)

            let ends = whole.indices.filter { whole[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
            for cut in [0, 5] + ends.dropLast().flatMap({ [$0, $0 + 3] }) {
                try whole.prefix(cut).write(to: url)
                for _ in 0..<2 {
                    let (writer, opened) = await Self.open(url)
                    expectNoDifference(try opened.get().mayMissRows, true, "cut at \(cut)")
                    await Self.close(writer)
                }
            }
        }
    }

    /// A cancel may come before or after the entry that another thread notes for the same row, so a withdrawal must be
    /// valid in either case.
    @Test func whatACancelNotesCanFollowWhateverIsThere() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("writes.journal")
            let (first, _) = await Self.open(url)
            // Row 0 is withdrawn before its attempt is noted; that comes after the journal was closed.
            first.note(.withdrawn(row: 0))
            try await Self.note(.attempt(row: 1, Self.digest, key: nil, over: nil), first).get()
            first.note(.withdrawn(row: 1))
            first.note(.withdrawn(row: 1))
            try await Self.note(.attempt(row: 2, Self.digest, key: nil, over: nil), first).get()
            await Self.close(first)
            let late = await Self.note(.attempt(row: 0, Self.digest, key: nil, over: nil), first)
            #expect(throws: FMRest.APIError.self) { try late.get() }

            let (second, opened) = await Self.open(url)
            let state = try opened.get().state
            expectNoDifference(state.rows.mapValues(\.phase), [1: .free, 2: .open(over: nil)])
            // A row that an earlier run has left open can be withdrawn.
            second.note(.withdrawn(row: 2))
            await Self.close(second)
            let (third, again) = await Self.open(url)
            expectNoDifference(try again.get().state.rows[2]?.phase, .free)
            await Self.close(third)
        }
    }

    @Test func damageAndOtherJournalsAreErrorsAndLetGoOfTheFile() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("writes.journal")
            let (first, _) = await Self.open(url)
            try await Self.note(.attempt(row: 0, Self.digest, key: nil, over: nil), first).get()
            await Self.close(first)
            let whole = try Data(contentsOf: url)

            var other = Self.header
            other.layout = "m"
            let (_, foreign) = await Self.open(url, other)
            expectNoDifference(Self.reason(foreign), .foreign)

            var damaged = whole
            damaged[damaged.count - 12] ^= 1
            try damaged.write(to: url)
            let (_, broken) = await Self.open(url)
            expectNoDifference(Self.reason(broken), .damaged)
            expectNoDifference(try Data(contentsOf: url), damaged)

            try Data("a letter to somebody\n".utf8).write(to: url)
            let (_, letter) = await Self.open(url)
            expectNoDifference(Self.reason(letter), .notAJournal)
            expectNoDifference(try Data(contentsOf: url), Data("a letter to somebody\n".utf8))

            let (_, folderItself) = await Self.open(folder)
            expectNoDifference(Self.reason(folderItself), .storage)
            let (_, nowhere) = await Self.open(folder.appendingPathComponent("no/such/folder"))
            expectNoDifference(Self.reason(nowhere), .storage)

            try whole.write(to: url)
            let (last, opened) = await Self.open(url)
            #expect(throws: Never.self) { try opened.get() }
            await Self.close(last)
        }
    }

    // MARK: A look

    @Test func aLookChangesNothingAndDoesNotWait() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("writes.journal")
            await #expect(throws: DataAPI.WriteJournalError.self) {
                try await DataAPI.WriteJournal.file(url).contents()
            }
            expectNoDifference(FileManager.default.fileExists(atPath: url.path), false)
            let (writer, _) = await Self.open(url)
            try await Self.note(.attempt(row: 3, Self.digest, key: nil, over: nil), writer).get()
            let torn = try Data(contentsOf: url) + Data("3 att".utf8)
            try torn.write(to: folder.appendingPathComponent("torn.journal"))

            let open = try await DataAPI.WriteJournal.file(url).contents()
            expectNoDifference(open.openRows, [3])
            expectNoDifference(open.layout, "l")
            await Self.close(writer)
            let closed = try await DataAPI.WriteJournal.file(url).contents()
            expectNoDifference([open.mayMissRows, closed.mayMissRows], [true, false])

            let cut = DataAPI.WriteJournal.file(folder.appendingPathComponent("torn.journal"))
            expectNoDifference(awaited: try await cut.contents().openRows, [3])
            expectNoDifference(try Data(contentsOf: folder.appendingPathComponent("torn.journal")), torn)
        }
    }

    // MARK: Closures

    /// A run that was cancelled while lines were being stored closes the journal later.
    @Test func aJournalIsLoadedWhenTheRunBeforeHasClosedIt() async throws {
        let events = Locked<[String]>([])
        let storing = Locked<[@Sendable (Result<Void, any Error>) -> Void]>([])
        let journal = DataAPI.WriteJournal(
            load: { done in
                events.change { $0.append("load") }
                done(.success([]))
            },
            append: { _, done in
                events.change { $0.append("append") }
                storing.change { $0.append(done) }
            },
            close: { events.change { $0.append("close") } }
        )
        let first = JournalWriter(journal)
        first.open(Self.header) { _ in }
        first.note(.attempt(row: 0, Self.digest, key: nil, over: nil)) { _ in }
        first.flush()
        first.close()
        let second = JournalWriter(journal)
        second.open(Self.header) { _ in events.change { $0.append("open") } }
        expectNoDifference(events.value, ["load", "append"])
        storing.value[0](.success(()))
        // The line that says that the run has ended.
        expectNoDifference(events.value, ["load", "append", "append"])
        storing.value[1](.success(()))
        expectNoDifference(events.value, ["load", "append", "append", "close", "load", "open"])
    }

    /// Whoever does not get the journal leaves it to the run that has it.
    @Test(
        .thorough,
        arguments: [
            DataAPI.WriteJournal.memory(),
            DataAPI.WriteJournal(load: { $0(.success([])) }, append: { _, done in done(.success(())) }),
        ]
    )
    func oneRunAtATimeHasASharedStorage(journal: DataAPI.WriteJournal) async throws {
        func open() async -> (JournalWriter, Opened) {
            let writer = JournalWriter(journal)
            return await withCheckedContinuation { continuation in
                writer.open(Self.header) { continuation.resume(returning: (writer, $0)) }
            }
        }
        let (first, _) = await open()
        for _ in 0..<2 {
            let (_, other) = await open()
            expectNoDifference(Self.reason(other), .inUse)
        }
        await Self.close(first)
        let (last, opened) = await open()
        #expect(throws: Never.self) { try opened.get() }
        await Self.close(last)
    }

    /// Lines that come while others are being stored wait, and are then stored together.
    @Test func attemptsThatAreReadyAreKeptTogether() throws {
        let groups = Locked<[[String]]>([])
        let waiting = Locked<[@Sendable (Result<Void, any Error>) -> Void]>([])
        let writer = JournalWriter(
            DataAPI.WriteJournal(
                load: { $0(.success([])) },
                append: { lines, done in
                    groups.change { $0.append(lines) }
                    waiting.change { $0.append(done) }
                }
            )
        )
        writer.open(Self.header) { _ in }
        let noted = Locked<[Int]>([])
        for row in 0..<5 {
            writer.note(.attempt(row: row, Self.digest, key: nil, over: nil)) { _ in noted.change { $0.append(row) } }
            writer.flush()
        }
        expectNoDifference(groups.value.map(\.count), [2])
        expectNoDifference(noted.value, [])
        waiting.value[0](.success(()))
        expectNoDifference(noted.value, [0])
        expectNoDifference(groups.value.map(\.count), [2, 4])
        waiting.value[1](.success(()))
        expectNoDifference(noted.value, [0, 1, 2, 3, 4])
        expectNoDifference(try JournalReading(texts: groups.value.flatMap(\.self)).state?.rows.count, 5)
    }

    private struct Full: Error {}

    @Test func whatCannotBeKeptIsToldToAllWhoWait() {
        let waiting = Locked<[@Sendable (Result<Void, any Error>) -> Void]>([])
        let closed = Locked(0)
        let writer = JournalWriter(
            DataAPI.WriteJournal(
                load: { $0(.success([])) },
                append: { _, done in waiting.change { $0.append(done) } },
                close: { closed.change { $0 += 1 } }
            )
        )
        writer.open(Self.header) { _ in }
        let failed = Locked<[Int]>([])
        func note(_ row: Int) {
            writer.note(.attempt(row: row, Self.digest, key: nil, over: nil)) { result in
                if case .failure(let error) = result, error.code == .journal { failed.change { $0.append(row) } }
            }
            writer.flush()
        }
        note(0)
        note(1)
        waiting.value[0](.failure(Full()))
        note(2)
        expectNoDifference(failed.value, [0, 1, 2])
        expectNoDifference(waiting.value.count, 1)
        writer.close()
        expectNoDifference(closed.value, 1)
    }
}
