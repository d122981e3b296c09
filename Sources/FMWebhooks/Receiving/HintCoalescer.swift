import FMData
import NIOCore

/// Delays hints for a moment, so that an import of a thousand rows, each in a delivery of its own, becomes one hint.
/// The delay of a table begins with its first hint.
struct HintCoalescer {
    /// Hints with the same subject can be merged.
    struct Subject: Hashable, Sendable {
        var database: String
        var table: String?
        var isSchema: Bool

        init(_ hint: DataAPI.ChangeHint) {
            database = hint.database
            table = hint.table
            isSchema = hint.isSchema
        }
    }

    enum Action: Equatable {
        case none
        /// When to call ``due(_:)``.
        case schedule(Subject, at: NIODeadline)
    }

    let window: TimeAmount
    private var held: [Subject: DataAPI.ChangeHint] = [:]

    init(window: TimeAmount) {
        self.window = window
    }

    mutating func received(_ hint: DataAPI.ChangeHint, now: NIODeadline) -> Action {
        let subject = Subject(hint)
        guard let earlier = held[subject] else {
            held[subject] = hint
            return .schedule(subject, at: now + window)
        }
        held[subject] = earlier.joined(with: hint)
        return .none
    }

    /// The delay of a subject is over. Returns its hint; `nil` if ``all()`` has returned it.
    mutating func due(_ subject: Subject) -> DataAPI.ChangeHint? { held.removeValue(forKey: subject) }

    /// Returns and removes all delayed hints, the oldest first.
    mutating func all() -> [DataAPI.ChangeHint] {
        defer { held = [:] }
        return held.values.sorted { $0.receivedAt < $1.receivedAt }
    }
}

extension DataAPI.ChangeHint {
    /// With more than so many rows the ids are dropped: polling the table is cheaper than reading single records.
    private static let mostRowIDs = 1_000

    /// Merges two hints of the same database and table.
    func joined(with other: Self) -> Self {
        var joined = self
        joined.rowIDs = nil
        if let mine = rowIDs, let theirs = other.rowIDs {
            let ids = Set(mine).union(theirs)
            if ids.count <= Self.mostRowIDs { joined.rowIDs = ids.sorted() }
        }
        joined.receivedAt = max(receivedAt, other.receivedAt)
        return joined
    }

    /// Appends a hint to the waiting ones, or merges it with the one of the same subject.
    static func queue(_ waiting: inout [Self], _ hint: Self) {
        let subject = HintCoalescer.Subject(hint)
        if let place = waiting.firstIndex(where: { HintCoalescer.Subject($0) == subject }) {
            waiting[place] = waiting[place].joined(with: hint)
        } else {
            waiting.append(hint)
        }
    }
}
