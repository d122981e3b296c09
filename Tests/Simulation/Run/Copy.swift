import FMData

@testable import FMDataCore

/// The records of a live query as its subscriber knows them: the received ones, with the received changes applied.
struct Copy: Equatable {
    struct Line: Hashable {
        var id: Int
        var modId: Int
        var marker: String
        var note: String
    }

    private(set) var lines: [Line] = []
    /// Whether a first complete state was received.
    private(set) var isReady = false
    /// An error in the received values.
    private(set) var trouble: String?
    /// Whether a reset for another account or another file was received.
    private(set) var isOfOtherFile = false

    /// Takes a complete value, which must be the previous one with the value's changes applied.
    mutating func take(_ value: DataAPI.LiveValue<Row>) {
        let next = value.records.map(Line.init)
        var changed = self
        // Records of another account or another file may be older.
        let isReset = value.freshness.origin == .reset
        changed.carryOut(value.changes, mayGoBack: isReset)
        isOfOtherFile = isOfOtherFile || isReset
        trouble = changed.trouble
        if Set(next.map(\.id)).count < next.count { complain("a record is there twice: \(next.map(\.id))") }
        if next.sorted(by: { $0.id < $1.id }) != changed.lines.sorted(by: { $0.id < $1.id }) {
            complain("the changes do not lead from \(lines.map(\.id)) to \(next.map(\.id))")
        }
        lines = next
        isReady = true
    }

    /// Takes the next event of a query for a copy that is kept elsewhere.
    mutating func take(_ event: DataAPI.LiveEvent<Row>) {
        switch event {
        case .snapshot(let records, _):
            if isReady { complain("a snapshot comes though the copy is complete") }
            lines += records.map(Line.init)
        case .unreadable(let records): complain("\(records) cannot be decoded")
        case .ready(let cursor):
            isReady = true
            if cursor.count != lines.count { complain("\(cursor.count) records are said to be \(lines.count)") }
        case .changed(let changes, _, let cursor):
            if !isReady { complain("changes come before the copy is complete") }
            carryOut(changes)
            if cursor.count != lines.count { complain("\(cursor.count) records are said to be \(lines.count)") }
        case .reset(let reason) where reason != .otherQuery:
            isOfOtherFile = isOfOtherFile || reason == .otherFile
            lines = []
            isReady = false
        case .reset(let reason): complain("the copy is of no use any more: \(reason)")
        }
    }

    private mutating func carryOut(_ changes: DataAPI.ChangeSet<Row>, mayGoBack: Bool = false) {
        for removal in changes.removed {
            guard let place = place(of: removal.recordId) else {
                complain("record \(removal.recordId) is gone, and never came")
                continue
            }
            lines.remove(at: place)
        }
        for update in changes.updated {
            guard let place = place(of: update.record.recordId) else {
                complain("record \(update.record.recordId) was changed, and never came")
                continue
            }
            let line = Line(update.record)
            if !mayGoBack, line.modId <= lines[place].modId {
                complain("record \(line.id) has gone back to version \(line.modId)")
            }
            lines[place] = line
        }
        for record in changes.inserted {
            if place(of: record.recordId) != nil { complain("record \(record.recordId) comes, and is there") }
            lines.append(Line(record))
        }
    }

    private func place(of id: Int) -> Int? { lines.firstIndex { $0.id == id } }

    private mutating func complain(_ text: String) { if trouble == nil { trouble = text } }
}

extension Copy.Line {
    init(_ record: DataAPI.TypedLayout<Row>.Record) {
        self.init(
            id: record.recordId,
            modId: record.modId,
            marker: record.fieldData.marker,
            note: record.fieldData.note
        )
    }
}

extension Copy {
    /// - Parameter told: the records as its subscriber knows them.
    static func difference(_ told: [Line], _ expected: [Line]) -> String {
        func text(_ lines: Set<Line>) -> [String] {
            lines.sorted { ($0.id, $0.modId) < ($1.id, $1.modId) }.map { "\($0.id).\($0.modId) \($0.marker)" }
        }
        let (told, expected) = (Set(told), Set(expected))
        return """
            \(expected.count) are there, and it was told of \(told.count); \
            not told: \(text(expected.subtracting(told))), not there: \(text(told.subtracting(expected)))
            """
    }
}
