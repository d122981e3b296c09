import Dispatch
public import FMDataCore
public import Foundation
import NIOConcurrencyHelpers

extension DataAPI {
    /// A journal in which a program notes what it is about to write, before it is sent, so that another run can resume
    /// it after a kill.
    ///
    ///     people.writing(rows, journal: .file(url))
    ///
    /// To resume, use the same journal and the same rows; nothing else is needed. What a run does with a row depends on
    /// the journal's entries for it:
    ///
    /// - Nothing: the row is sent. If rows may be missing from the journal, a create with a key is looked up first.
    /// - Its key, in another row that was carried out or may have been: a create fails without a request, because rows
    ///   have changed their places. The error names both.
    /// - It was carried out, or failed permanently: the result is published again (``BatchRow/isFromJournal``), without
    ///   a request.
    /// - It was refused temporarily, or not sent after all: the row is sent.
    /// - An attempt without an outcome: the row is looked up, a second time after ``BatchOptions/settlingTime``, and
    ///   sent again only if the second lookup finds nothing either.
    /// - An attempt of a create without a key, or with a key in another field than ``BatchOptions/idempotencyKey``
    ///   names now: the row is unknown, without a request.
    /// - An attempt or an outcome of another row at this index: the row fails without a request, because the input has
    ///   changed. If the other row has no outcome, it stays unknown whether it was carried out.
    ///
    /// **Order holds across runs.** An upsert, a delete or an edit without a modId is not sent when the journal has an
    /// attempt or a success of a later row for the same record or key, because it would overwrite what that row wrote.
    /// It fails without a request and names that row, or is unknown if it may have been sent before.
    ///
    /// **Changes of other clients.** An upsert that may have been carried out is done when its record holds the fields
    /// of the row. It is written again only over the version that was noted for it. A record that another client has
    /// changed since is not written to, and the row is unknown.
    ///
    /// **A lost end.** A run that ends, also by a cancel or an error, notes that as its last line. Without that line it
    /// was killed, or the end of the journal was lost since, by a backup or a file system: nothing tells which. From
    /// then on each create with a key of which the journal says nothing is looked up before it is sent, which costs one
    /// find a row, and is done if its record is there (``BatchSummary/journalMayMissRows``). An edit with a modId that
    /// had been carried out fails with 306, a delete is repeated, and so is an upsert; creates without a key and edits
    /// without a modId are sent again; a commit is looked up by its job record. If the loss ends just behind the last
    /// line of an earlier run, it cannot be noticed.
    ///
    /// An attempt counts, and is sent, when it is on the disk; attempts that are ready at the same time share one sync.
    /// Outcomes are written after them, without a sync of their own: a lost outcome costs a lookup.
    ///
    /// **Contents**: the host, database and layout; for each row its index, a digest, the id of its record, the error
    /// codes of a refusal and the names of its fields, and **the key** by which its record can be looked up, with the
    /// name of its field. It holds no field values except keys, no text from the server, no account and no token. A
    /// digest is the SHA-256 of the row and a random number of the journal, cut to 128 bits; it hides nothing from a
    /// reader who can guess the whole row. Only the owner of the file can read it.
    ///
    /// A journal belongs to the rows of one job. It grows by some 200 bytes per row and is not needed any more when all
    /// rows are done.
    public struct WriteJournal: Sendable {
        /// Makes the storage for a run.
        let storage: @Sendable () -> any JournalStorage

        /// A journal in a file, which is created if it does not exist.
        ///
        /// Its folder has to exist. One run at a time, of all processes of the machine, can have it open: another one
        /// waits for 2 seconds and fails with ``WriteJournalError/Reason/inUse``. A last line that is incomplete is cut
        /// off (``BatchSummary/journalBytesCut``); any other line that is not as it was written makes the run fail with
        /// ``WriteJournalError/Reason/damaged``, before anything is sent. A file that exists and is empty counts as one
        /// that has lost all of its lines.
        public static func file(_ url: URL) -> WriteJournal {
            WriteJournal { JournalFile(path: url.path) }
        }

        /// A journal in memory, which lives as long as it is referenced: another run of the same process can resume
        /// with it.
        public static func memory() -> WriteJournal {
            WriteJournal(sharing: JournalMemory())
        }

        /// A journal in a storage of your own, such as a table of a database. Lines are texts without a line feed;
        /// `load` has to return them in the order in which they were appended.
        ///
        /// One run at a time has this value: `load` is not called before the run before, a cancelled one too, has
        /// called `close`. Another run waits for that for 2 seconds and fails with ``WriteJournalError/Reason/inUse``.
        ///
        /// - Parameters:
        ///   - load: returns all lines, none at first. Called once in each run, before anything else. It may keep other
        ///     processes out until `close`, and fail with ``WriteJournalError/Reason/inUse``.
        ///   - append: stores lines, all or none, and then calls back; from then on they must not get lost. The next
        ///     call comes after that.
        ///   - close: the run has ended. Called once, also after a failure.
        public init(
            load: @escaping @Sendable (_ done: @escaping @Sendable (Result<[String], any Error>) -> Void) -> Void,
            append:
                @escaping @Sendable (
                    _ lines: [String],
                    _ done: @escaping @Sendable (Result<Void, any Error>) -> Void
                ) -> Void,
            close: @escaping @Sendable () -> Void = {}
        ) {
            self.init(sharing: JournalClosures(loadLines: load, appendLines: append, closeLines: close))
        }

        /// A journal whose storage all runs share, one at a time.
        private init(sharing shared: any JournalStorage) {
            let turns = JournalTurns()
            self.init { JournalTurn(shared, turns) }
        }

        init(storage: @escaping @Sendable () -> any JournalStorage) {
            self.storage = storage
        }
    }
}

/// The storage of a journal's lines. Calls come one after the other; each calls back once, on any thread.
protocol JournalStorage: Sendable {
    typealias Done<Value> = @Sendable (Result<Value, DataAPI.WriteJournalError>) -> Void

    func load(_ done: @escaping Done<JournalReading>)
    /// - Parameter isUrgent: whether a caller waits until the lines are on the disk.
    func append(_ lines: [String], isUrgent: Bool, _ done: @escaping Done<Void>)
    func close(_ done: @escaping @Sendable () -> Void)
    /// Reads the journal for nothing but to tell what it holds. The only call then.
    func look(_ done: @escaping Done<JournalReading>)
}

extension JournalStorage {
    func look(_ done: @escaping Done<JournalReading>) {
        load { reading in close { done(reading) } }
    }
}

/// Lets one run at a time have a storage.
private final class JournalTurns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(id: Int, begin: @Sendable (_ isGranted: Bool) -> Void)] = []
        var nextId = 0
    }

    private let state = NIOLockedValueBox(State())

    /// Waits for two seconds at most, as for a file: a run that was just cancelled is about to close the journal.
    func take(_ begin: @escaping @Sendable (_ isGranted: Bool) -> Void) {
        let id: Int? = state.withLockedValue { state in
            defer { state.isTaken = true }
            guard state.isTaken else { return nil }
            state.nextId += 1
            state.waiting.append((state.nextId, begin))
            return state.nextId
        }
        guard let id else { return begin(true) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(2)) {
            let late = self.state.withLockedValue { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            late?.begin(false)
        }
    }

    func giveBack() {
        let next = state.withLockedValue { state in
            state.isTaken = !state.waiting.isEmpty
            return state.isTaken ? state.waiting.removeFirst() : nil
        }
        next?.begin(true)
    }
}

/// The use of a shared storage by one run.
private final class JournalTurn: JournalStorage {
    private let shared: any JournalStorage
    private let turns: JournalTurns
    private let isMine = NIOLockedValueBox(false)

    init(_ shared: any JournalStorage, _ turns: JournalTurns) {
        self.shared = shared
        self.turns = turns
    }

    deinit { giveBack() }

    func load(_ done: @escaping Done<JournalReading>) {
        turns.take { [self] isGranted in
            guard isGranted else { return done(.failure(.init(.inUse))) }
            isMine.withLockedValue { $0 = true }
            shared.load(done)
        }
    }

    func append(_ lines: [String], isUrgent: Bool, _ done: @escaping Done<Void>) {
        shared.append(lines, isUrgent: isUrgent, done)
    }

    func close(_ done: @escaping @Sendable () -> Void) {
        // A run that has not got its turn leaves the journal to the others.
        guard isMine.withLockedValue({ $0 }) else { return done() }
        shared.close { [self] in
            giveBack()
            done()
        }
    }

    private func giveBack() {
        let wasMine = isMine.withLockedValue { isMine in
            defer { isMine = false }
            return isMine
        }
        if wasMine { turns.giveBack() }
    }
}

extension DataAPI.WriteJournalError {
    init(wrapping error: any Error) {
        self = error as? Self ?? Self(.storage, detail: "\(type(of: error))")
    }
}

private final class JournalMemory: JournalStorage {
    private let lines = NIOLockedValueBox([String]())

    func load(_ done: @escaping Done<JournalReading>) {
        let lines = lines.withLockedValue(\.self)
        done(Result(catching: { () throws(DataAPI.WriteJournalError) in try JournalReading(texts: lines) }))
    }

    func append(_ lines: [String], isUrgent: Bool, _ done: @escaping Done<Void>) {
        self.lines.withLockedValue { $0 += lines }
        done(.success(()))
    }

    func close(_ done: @escaping @Sendable () -> Void) { done() }
}

private struct JournalClosures: JournalStorage {
    let loadLines: @Sendable (_ done: @escaping @Sendable (Result<[String], any Error>) -> Void) -> Void
    let appendLines:
        @Sendable (_ lines: [String], _ done: @escaping @Sendable (Result<Void, any Error>) -> Void) -> Void
    let closeLines: @Sendable () -> Void

    func load(_ done: @escaping Done<JournalReading>) {
        loadLines { result in
            done(
                result.mapError { DataAPI.WriteJournalError(wrapping: $0) }
                    .flatMap { lines in
                        Result(catching: { () throws(DataAPI.WriteJournalError) in try JournalReading(texts: lines) })
                    }
            )
        }
    }

    func append(_ lines: [String], isUrgent: Bool, _ done: @escaping Done<Void>) {
        appendLines(lines) { done($0.mapError { DataAPI.WriteJournalError(wrapping: $0) }) }
    }

    func close(_ done: @escaping @Sendable () -> Void) {
        closeLines()
        done()
    }
}

extension JournalReading {
    init(texts: [String]) throws(DataAPI.WriteJournalError) {
        try self.init(lines: texts.lazy.map { Array($0.utf8)[...] })
    }
}
