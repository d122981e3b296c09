public import FMDataCore

extension DataAPI.WriteJournal {
    /// What a journal holds of the rows of its runs.
    public struct Contents: Hashable, Sendable {
        /// Scheme, host and port that the rows are for; `nil` for a journal that has not begun, as the other names are.
        public var host: String?
        /// The database that the rows are for.
        public var database: String?
        /// The layout that the rows are for.
        public var layout: String?
        /// The rows that were carried out, counted from 0.
        public var doneRows: [Int] = []
        /// The rows that were refused for good.
        public var failedRows: [Int] = []
        /// The rows that may have been carried out: the next run looks them up.
        public var openRows: [Int] = []
        /// Whether the journal may have lost rows; see ``DataAPI/BatchSummary/journalMayMissRows``. Also `true` while a
        /// run has it open.
        public var mayMissRows = false

        /// Makes a value for tests and doubles; see the properties for its parts.
        public init() {}
    }

    /// Reads what the journal holds, and writes nothing to it or to the host.
    ///
    ///     let contents = try await DataAPI.WriteJournal.file(url).contents()
    ///     print(contents.doneRows.count, "done,", contents.openRows.count, "open")
    ///
    /// A file may be open in a run meanwhile. Other journals are loaded and closed as for a run, in their turn. Throws
    /// when the journal cannot be used, and when there is no such file.
    public func contents() async throws(DataAPI.WriteJournalError) -> Contents {
        let storage = storage()
        let reading = await withCheckedContinuation { continuation in
            storage.look { continuation.resume(returning: $0) }
        }
        return Contents(try reading.get())
    }
}

extension DataAPI.WriteJournal.Contents {
    init(_ reading: JournalReading) {
        mayMissRows = reading.mayMissRows
        guard let state = reading.state else { return }
        (host, database, layout) = (state.header.origin, state.header.database, state.header.layout)
        for (index, row) in state.rows.sorted(by: { $0.key < $1.key }) {
            switch row.phase {
            case .open, .openInJob: openRows.append(index)
            case .free: break
            case .done(let outcome) where outcome.kind == .failed: failedRows.append(index)
            case .done: doneRows.append(index)
            }
        }
    }
}
