import FMDataCore
import NIOConcurrencyHelpers

/// What a journal says when a run opens it.
struct EarlierRuns: Sendable {
    /// What earlier runs have noted.
    var state: JournalState
    /// How many bytes were cut off its end.
    var cutBytes = 0
    /// Whether rows that earlier runs have sent may be missing.
    var mayMissRows = false
}

/// A journal in use by one run: reads its state and writes entries. Lines added while others are being stored wait and
/// are stored together.
final class JournalWriter: Sendable {
    typealias Noted = @Sendable (Result<Void, FMRest.APIError>) -> Void

    private struct State {
        var lineCount = 0
        var lines: [String] = []
        var waiting: [Noted] = []
        var isBusy = false
        var failure: FMRest.APIError?
        /// Rows with an attempt, or in a job, that have no outcome.
        var openRows: Set<Int> = []
        /// Whether the last line says that a run has closed the journal.
        var endsClosed = false
        var isClosed = false
        var closed: (@Sendable () -> Void)?

        /// Whether the entry can follow those before it.
        mutating func follows(_ entry: JournalEntry) -> Bool {
            switch entry {
            case .header, .list, .closed, .resumed: break
            case .attempt(let row, _, _, _, _): openRows.insert(row)
            case .job(_, let rows): openRows.formUnion(rows.lazy.map(\.row))
            case .withdrawn(let row): return openRows.remove(row) != nil
            case .outcome(let row, _, _): openRows.remove(row)
            }
            return true
        }

        mutating func add(_ entry: JournalEntry) {
            lines.append(entry.line(lineCount))
            lineCount += 1
            endsClosed = entry == .closed
        }
    }

    private let storage: any JournalStorage
    private let state = NIOLockedValueBox(State())

    init(_ journal: DataAPI.WriteJournal) {
        storage = journal.storage()
    }

    /// Reads the journal, and starts it if it is empty. Called once, before anything else.
    ///
    /// - Parameters:
    ///   - header: the header of these writes.
    ///   - done: receives what earlier runs have noted. The journal is closed after a failure.
    func open(
        _ header: JournalHeader,
        _ done: @escaping @Sendable (Result<EarlierRuns, FMRest.APIError>) -> Void
    ) {
        storage.load { result in
            let opened = result.flatMap { reading in self.began(with: reading, header) }
            switch opened {
            case .success(let opened): done(.success(opened))
            case .failure(let error): self.storage.close { done(.failure(FMRest.APIError(error))) }
            }
        }
    }

    private func began(
        with reading: JournalReading,
        _ header: JournalHeader
    ) -> Result<EarlierRuns, DataAPI.WriteJournalError> {
        if let known = reading.state {
            guard known.header.isForTheSame(as: header) else {
                let old = known.header
                return .failure(.init(.foreign, detail: "layout \(old.layout) of \(old.database) on \(old.origin)"))
            }
            let openRows = Set(known.rows.lazy.filter { $0.value.phase.isOpen }.map(\.key))
            state.withLockedValue { state in
                state.lineCount = known.lineCount
                state.openRows = openRows
                state.endsClosed = known.isClosed
            }
        } else {
            state.withLockedValue { $0.add(.header(header)) }
        }
        // Later runs have to know it as well, also when this one has closed the journal.
        if reading.mayMissRows, reading.state?.wasResumed != true { state.withLockedValue { $0.add(.resumed) } }
        return .success(
            EarlierRuns(
                state: reading.state ?? JournalState(header),
                cutBytes: reading.cutBytes,
                mayMissRows: reading.mayMissRows
            )
        )
    }

    /// Adds an entry, which is stored with the next lines that a caller waits for, or a little later.
    ///
    /// A run may be cancelled while another thread adds entries for it. So a withdrawal of a row that is not open is
    /// left out, and nothing is added once the journal is being closed: whichever thread is faster, each line can
    /// follow those before it.
    ///
    /// - Parameter noted: called when the entry is on the disk, or cannot be written.
    func note(_ entry: JournalEntry, _ noted: Noted? = nil) {
        let error: FMRest.APIError? = state.withLockedValue { state in
            if let failure = state.failure { return failure }
            if state.isClosed { return FMRest.APIError(DataAPI.WriteJournalError(.storage, detail: "it is closed")) }
            guard state.follows(entry) else { return nil }
            state.add(entry)
            if let noted { state.waiting.append(noted) }
            return nil
        }
        if let error { noted?(.failure(error)) }
    }

    /// Stores the added entries. Called when there is nothing more to add for now.
    func flush() {
        let group: ([String], [Noted])? = state.withLockedValue { state in
            guard !state.isBusy, !state.lines.isEmpty, state.failure == nil else { return nil }
            state.isBusy = true
            defer { (state.lines, state.waiting) = ([], []) }
            return (state.lines, state.waiting)
        }
        guard let (lines, waiting) = group else { return closeIfIdle() }
        storage.append(lines, isUrgent: !waiting.isEmpty) { result in
            let result = result.mapError { FMRest.APIError($0) }
            self.state.withLockedValue { state in
                state.isBusy = false
                if case .failure(let error) = result { state.failure = error }
            }
            for noted in waiting { noted(result) }
            if case .failure(let error) = result {
                let others = self.state.withLockedValue { state in
                    defer { state.waiting = [] }
                    return state.waiting
                }
                for noted in others { noted(.failure(error)) }
            }
            self.flush()
        }
    }

    /// Closes the journal when everything added is stored, and notes that.
    func close(_ done: @escaping @Sendable () -> Void = {}) {
        state.withLockedValue { state in
            if !state.isClosed, !state.endsClosed, state.failure == nil { state.add(.closed) }
            state.isClosed = true
            state.closed = done
        }
        flush()
    }

    private func closeIfIdle() {
        let closed: (@Sendable () -> Void)? = state.withLockedValue { state in
            state.isBusy ? nil : state.closed.take()
        }
        if let closed { storage.close(closed) }
    }
}
