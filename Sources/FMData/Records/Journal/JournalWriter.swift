import NIOConcurrencyHelpers

/// A journal in use by one run: reads its state and writes entries. Lines added while others are being stored wait and
/// are stored together.
final class JournalWriter: @unchecked Sendable {
    // @unchecked: `lock` guards every `var`; nothing outside is called with it held.
    typealias Noted = @Sendable (Result<Void, FMRest.APIError>) -> Void

    private let lock = NIOLock()
    private let storage: any JournalStorage
    private var lineCount = 0
    private var lines: [String] = []
    private var waiting: [Noted] = []
    private var isBusy = false
    private var failure: FMRest.APIError?
    /// Rows with an attempt, or in a job, that have no outcome.
    private var openRows: Set<Int> = []
    private var isClosed = false
    private var closed: (@Sendable () -> Void)?

    init(_ journal: DataAPI.WriteJournal) {
        storage = journal.storage()
    }

    /// Reads the journal, and starts it if it is empty. Called once, before anything else.
    ///
    /// - Parameters:
    ///   - header: the header of these writes.
    ///   - done: receives the state of the journal, and how many bytes were cut off its end. The journal is closed
    ///     after a failure.
    func open(
        _ header: JournalHeader,
        _ done: @escaping @Sendable (Result<(JournalState, cutBytes: Int), FMRest.APIError>) -> Void
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
    ) -> Result<(JournalState, cutBytes: Int), DataAPI.WriteJournalError> {
        if let state = reading.state {
            guard state.header.isForTheSame(as: header) else {
                let old = state.header
                return .failure(.init(.foreign, detail: "layout \(old.layout) of \(old.database) on \(old.origin)"))
            }
            let openRows = Set(state.rows.lazy.filter { $0.value.phase.isOpen }.map(\.key))
            lock.withLock {
                lineCount = state.lineCount
                self.openRows = openRows
            }
            return .success((state, reading.cutBytes))
        }
        lock.withLock {
            lines = [JournalEntry.header(header).line(0)]
            lineCount = 1
        }
        return .success((JournalState(header), reading.cutBytes))
    }

    /// Adds an entry, which is stored with the next lines that a caller waits for, or a little later.
    ///
    /// A run may be cancelled while another thread adds entries for it. So a withdrawal of a row that is not open is
    /// left out, and nothing is added once the journal is being closed: whichever thread is faster, each line can
    /// follow those before it.
    ///
    /// - Parameter noted: called when the entry is on the disk, or cannot be written.
    func note(_ entry: JournalEntry, _ noted: Noted? = nil) {
        let error: FMRest.APIError? = lock.withLock {
            if let failure { return failure }
            if isClosed { return FMRest.APIError(DataAPI.WriteJournalError(.storage, detail: "it is closed")) }
            guard lockedFollows(entry) else { return nil }
            lines.append(entry.line(lineCount))
            lineCount += 1
            if let noted { waiting.append(noted) }
            return nil
        }
        if let error { noted?(.failure(error)) }
    }

    /// Whether the entry can follow those before it.
    private func lockedFollows(_ entry: JournalEntry) -> Bool {
        switch entry {
        case .header: break
        case .attempt(let row, _, _, _, _): openRows.insert(row)
        case .job(_, let rows): openRows.formUnion(rows.lazy.map(\.row))
        case .withdrawn(let row): return openRows.remove(row) != nil
        case .outcome(let row, _, _): openRows.remove(row)
        }
        return true
    }

    /// Stores the added entries. Called when there is nothing more to add for now.
    func flush() {
        let group: ([String], [Noted])? = lock.withLock {
            guard !isBusy, !lines.isEmpty, failure == nil else { return nil }
            isBusy = true
            defer { (lines, waiting) = ([], []) }
            return (lines, waiting)
        }
        guard let (lines, waiting) = group else { return closeIfIdle() }
        storage.append(lines, isUrgent: !waiting.isEmpty) { result in
            let result = result.mapError { FMRest.APIError($0) }
            self.lock.withLock {
                self.isBusy = false
                if case .failure(let error) = result { self.failure = error }
            }
            for noted in waiting { noted(result) }
            if case .failure(let error) = result {
                let others = self.lock.withLock {
                    defer { self.waiting = [] }
                    return self.waiting
                }
                for noted in others { noted(.failure(error)) }
            }
            self.flush()
        }
    }

    /// Closes the journal when everything added is stored.
    func close(_ done: @escaping @Sendable () -> Void = {}) {
        lock.withLock {
            isClosed = true
            closed = done
        }
        flush()
    }

    private func closeIfIdle() {
        let closed: (@Sendable () -> Void)? = lock.withLock {
            guard !isBusy else { return nil }
            defer { self.closed = nil }
            return self.closed
        }
        if let closed { storage.close(closed) }
    }
}
