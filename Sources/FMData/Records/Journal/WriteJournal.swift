public import Foundation
import NIOConcurrencyHelpers

extension DataAPI {
    /// Where a program notes what it is about to write, before it is sent, so that another run can go on where this one
    /// was killed.
    ///
    ///     people.writing(rows, journal: .file(url))
    ///
    /// Whoever resumes needs the same journal and the same rows, nothing else. What a run does with a row depends on
    /// what the journal says of it:
    ///
    /// | the journal says | the row |
    /// |---|---|
    /// | nothing | is sent |
    /// | it was carried out, or failed for good | is told again as it was (``BatchRow/isFromJournal``), without a request |
    /// | it was refused in passing, or not sent after all | is sent |
    /// | an attempt, and no outcome | is looked up, a second time after ``BatchOptions/settlingTime``; only what is not there then is sent again |
    /// | an attempt of a create without a key, or with one in another field than ``BatchOptions/idempotencyKey`` names now | is unknown, without a request |
    /// | an attempt or an outcome of another row at this place | fails without a request: the input has changed; whether the other one was carried out stays unknown, if its outcome is |
    ///
    /// **Order holds across runs.** An upsert, a delete or an edit without a modId is not sent when the journal has an
    /// attempt of a later row for the same record or key, or that it was carried out: it would undo what that one wrote. It
    /// fails without a request and says which row it is, or is unknown if it may have been sent before.
    ///
    /// **Strangers.** An upsert that may have been carried out is done when its record holds what the row says. It is
    /// written again only over the version that it was noted for; a record that somebody has changed since is left as it
    /// is, and the row is unknown.
    ///
    /// An attempt counts, and is sent, when it is on the disk; attempts that are ready at the same time share one sync.
    /// Outcomes are written behind them, without a sync of their own: one that gets lost costs a look.
    ///
    /// **What it holds**: which host, database and layout it is for; of each row its place, a digest, the id of its
    /// record, the error codes of a refusal, and **the key** that its record can be looked up by, with the name of its
    /// field. Of fields, no value but keys; no text of the server's, no account, no token. A digest is the SHA-256 of the row and a random number
    /// of the journal, cut to 128 bits; it keeps nothing secret from somebody who can guess the whole row. The file is
    /// readable by its owner alone.
    ///
    /// One journal is for the rows of one job. It grows by some 200 bytes a row and is not needed any more when all
    /// rows are done.
    public struct WriteJournal: Sendable {
        /// Made anew for each run.
        let storage: @Sendable () -> any JournalStorage

        /// In a file, which is made if there is none.
        ///
        /// Its folder has to exist. One run at a time can have it open, in all processes of the machine: another one
        /// waits 2 seconds and fails with ``WriteJournalError/Reason/inUse``. A last line that was not written to its
        /// end is cut off (``BatchSummary/journalBytesCut``); any other line that is not as it was written makes the
        /// run fail with ``WriteJournalError/Reason/damaged``, before anything is sent.
        public static func file(_ url: URL) -> WriteJournal {
            WriteJournal { JournalFile(path: url.path) }
        }

        /// In memory, for as long as somebody holds it: another run of the same process can go on with it.
        public static func memory() -> WriteJournal {
            let memory = JournalMemory()
            return WriteJournal { memory }
        }

        /// In a place of your own, such as a table of a database. Lines are texts without a line feed; they come back
        /// in the order in which they were appended.
        ///
        /// - Parameters:
        ///   - load: brings all lines, none at the beginning. Called once in each run, before anything else; it may keep
        ///     other runs
        ///     away until `close`, and fail with ``WriteJournalError/Reason/inUse``.
        ///   - append: keeps some lines, all or none, and then calls back; when it has done so nothing may be able to
        ///     lose them. The next
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
            storage = { JournalClosures(loadLines: load, appendLines: append, closeLines: close) }
        }

        init(storage: @escaping @Sendable () -> any JournalStorage) {
            self.storage = storage
        }
    }
}

/// Where the lines of a journal are kept. Calls come one after the other; each calls back once, on any thread.
protocol JournalStorage: Sendable {
    typealias Done<Value> = @Sendable (Result<Value, DataAPI.WriteJournalError>) -> Void

    func load(_ done: @escaping Done<JournalReading>)
    /// - Parameter isUrgent: whether something waits for them to be on the disk.
    func append(_ lines: [String], isUrgent: Bool, _ done: @escaping Done<Void>)
    func close(_ done: @escaping @Sendable () -> Void)
}

extension DataAPI.WriteJournalError {
    init(wrapping error: any Error) {
        self = error as? Self ?? Self(.storage, detail: "\(type(of: error))")
    }
}

private final class JournalMemory: JournalStorage {
    private let state = NIOLockedValueBox((lines: [String](), isOpen: false))

    func load(_ done: @escaping Done<JournalReading>) {
        let lines: [String]? = state.withLockedValue { state in
            guard !state.isOpen else { return nil }
            state.isOpen = true
            return state.lines
        }
        guard let lines else { return done(.failure(.init(.inUse))) }
        done(Result(catching: { () throws(DataAPI.WriteJournalError) in try JournalReading(texts: lines) }))
    }

    func append(_ lines: [String], isUrgent: Bool, _ done: @escaping Done<Void>) {
        state.withLockedValue { $0.lines += lines }
        done(.success(()))
    }

    func close(_ done: @escaping @Sendable () -> Void) {
        state.withLockedValue { $0.isOpen = false }
        done()
    }
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
