import FMData
import NIOCore

/// Holds hints back for a moment, so that an import of a thousand rows, each in a delivery of its own, is one hint: for each table
/// so long from its first hint on.
struct HintCoalescer {
    /// What hints have in common that can be one.
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
        /// Call ``due(_:)`` then.
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

    /// The time of a subject has come: its hint, unless it has been let go.
    mutating func due(_ subject: Subject) -> DataAPI.ChangeHint? { held.removeValue(forKey: subject) }

    /// Lets all go that it holds, the oldest first.
    mutating func all() -> [DataAPI.ChangeHint] {
        defer { held = [:] }
        return held.values.sorted { $0.receivedAt < $1.receivedAt }
    }
}

extension DataAPI.ChangeHint {
    /// Beyond so many, single records are of no help: a look is cheaper.
    private static let mostRowIDs = 1_000

    /// Both as one, of the same database and table.
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

    /// Puts a hint behind those that wait, or into the one of them that it can be one with.
    static func queue(_ waiting: inout [Self], _ hint: Self) {
        let subject = HintCoalescer.Subject(hint)
        if let place = waiting.firstIndex(where: { HintCoalescer.Subject($0) == subject }) {
            waiting[place] = waiting[place].joined(with: hint)
        } else {
            waiting.append(hint)
        }
    }
}
