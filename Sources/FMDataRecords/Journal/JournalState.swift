import FMDataCore

/// What the lines of a journal say of each row.
struct JournalState: Equatable, Sendable {
    let header: JournalHeader
    private(set) var rows: [Int: Row] = [:]
    /// The records that the rows are for, where the first run has found them.
    private(set) var list: List?
    /// The number of lines.
    private(set) var lineCount = 1
    /// Whether a run has ended with the last line.
    private(set) var isClosed = false
    /// Whether a run has gone on with a journal that was not closed.
    private(set) var wasResumed = false

    struct List: Equatable, Sendable {
        /// Says what is done to them.
        var digest: RowDigest
        var records: [WrittenVersion]
    }

    struct Row: Equatable, Sendable {
        var digest: RowDigest
        /// The key of the row's record; for a row of a job, the job's key.
        var key: String?
        /// The field that holds the key.
        var field = JournalEntry.NotedField.none
        var phase: Phase
    }

    enum Phase: Equatable, Sendable {
        /// An attempt was noted: it may have been carried out.
        case open(over: WrittenVersion?)
        /// The same, together with all rows of one job.
        case openInJob
        /// It was not carried out, and may be sent.
        case free
        case done(JournalOutcome)
    }

    init(_ header: JournalHeader) {
        self.header = header
    }

    /// Adds a line; throws for one that cannot follow those before it.
    mutating func add(_ entry: JournalEntry) throws(DataAPI.WriteJournalError.Reason) {
        isClosed = entry == .closed
        switch entry {
        case .header:
            throw .damaged
        case .list(let digest, let records):
            guard list == nil, rows.isEmpty else { throw .damaged }
            list = List(digest: digest, records: records)
        case .attempt(let row, let digest, let key, let field, let over):
            try begin(Row(digest: digest, key: key, field: field, phase: .open(over: over)), row)
        case .job(let key, let jobRows):
            for jobRow in jobRows {
                try begin(Row(digest: jobRow.digest, key: key, phase: .openInJob), jobRow.row)
            }
        case .withdrawn(let row):
            guard rows[row]?.phase.isOpen == true else { throw .damaged }
            rows[row]?.phase = .free
        case .outcome(let row, let digest, let outcome):
            if rows[row]?.phase.isDone == true { throw .damaged }
            guard let known = digest ?? rows[row]?.digest else { throw .damaged }
            let old = rows[row]
            rows[row] = Row(digest: known, key: old?.key, field: old?.field ?? .none, phase: .done(outcome))
        case .closed: break
        case .resumed: wasResumed = true
        }
        lineCount += 1
    }

    /// A row that was carried out is not sent again. One that may have been carried out is sent again only unchanged.
    private mutating func begin(_ new: Row, _ row: Int) throws(DataAPI.WriteJournalError.Reason) {
        if let old = rows[row], old.phase.isDone || old.phase.isOpen && old.digest != new.digest { throw .damaged }
        rows[row] = new
    }
}

extension JournalState {
    /// Per record, and per key by which records are looked up, the last row that was written or may have been.
    ///
    /// Computed only on request, because it visits every row.
    func lastRowsOfLanes() -> [BatchStateMachine.SerialKey: Int] {
        var last: [BatchStateMachine.SerialKey: Int] = [:]
        for (index, row) in rows where row.phase.mayHaveChangedARecord {
            for serialKey in row.serialKeys where last[serialKey].map({ $0 < index }) ?? true {
                last[serialKey] = index
            }
        }
        return last
    }
}

extension JournalState {
    /// The rows of all keys in this field, except those of rows that were not carried out.
    ///
    /// Computed only on request, because it visits every row.
    func rowsOfKeys(in field: String) -> [String: Int] {
        var found: [String: Int] = [:]
        for (index, row) in rows where row.phase.mayHaveChangedARecord {
            guard let key = row.key, case .named(let noted) = row.field, noted.lowercased() == field.lowercased() else {
                continue
            }
            found[key] = index
        }
        return found
    }
}

extension JournalState.Row {
    /// The serial keys of the row. Where the field of the key is not noted, the key may be a field's value or a record
    /// id.
    fileprivate var serialKeys: [BatchStateMachine.SerialKey] {
        guard let key, phase != .openInJob else { return [] }
        let record = Int(key).map { BatchStateMachine.SerialKey.record($0) }
        return switch field {
        case .none: record.map { [$0] } ?? []
        case .named: [.key(key.foldedAsKey)]
        case .notSaid: [.key(key.foldedAsKey)] + (record.map { [$0] } ?? [])
        }
    }
}

extension JournalState.Phase {
    /// Deletes do not count: an earlier row cannot write to a deleted record, whose id is never used again.
    fileprivate var mayHaveChangedARecord: Bool {
        switch self {
        case .open, .openInJob: true
        case .free: false
        case .done(let outcome): outcome.kind == .created || outcome.kind == .updated
        }
    }

    var isOpen: Bool {
        switch self {
        case .open, .openInJob: true
        case .free, .done: false
        }
    }

    /// Whether it was carried out, in this run or in an earlier one.
    fileprivate var isDone: Bool {
        if case .done(let outcome) = self { outcome.kind != .failed } else { false }
    }
}

// MARK: - Reading

/// A journal as it was read.
struct JournalReading: Equatable, Sendable {
    /// `nil` for a journal that has not begun.
    var state: JournalState?
    /// How many bytes at the end belong to an incomplete line.
    var cutBytes = 0
    /// Whether the journal was there and had not even a first line.
    var wasEmptied = false

    /// Whether lines may be missing: the last run was killed, or the end of the journal was lost since. Of these two
    /// nothing tells one from the other.
    var mayMissRows: Bool {
        cutBytes > 0 || wasEmptied || state.map { !$0.isClosed || $0.wasResumed } ?? false
    }

    /// - Parameter bytes: the whole journal. Bytes after the last line feed are not read.
    init(_ bytes: [UInt8]) throws(DataAPI.WriteJournalError) {
        try self.init(lines: Self.lines(of: bytes))
        cutBytes = bytes.count - (bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)
    }

    /// - Parameter lines: the lines without their ends.
    init(lines: some Sequence<ArraySlice<UInt8>>) throws(DataAPI.WriteJournalError) {
        var number = 0
        for line in lines {
            do throws(DataAPI.WriteJournalError.Reason) {
                let entry = try JournalEntry(line: line, number: number)
                if state == nil {
                    guard case .header(let header) = entry else { throw .damaged }
                    state = JournalState(header)
                } else {
                    try state?.add(entry)
                }
            } catch {
                // A file whose first line is damaged is not a journal.
                throw DataAPI.WriteJournalError(
                    number == 0 && error == .damaged ? .notAJournal : error,
                    line: number
                )
            }
            number += 1
        }
    }

    private static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(bytes[start..<end])
            start = end + 1
        }
        return lines
    }
}
