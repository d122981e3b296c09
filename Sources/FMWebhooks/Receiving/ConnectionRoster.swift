/// The connections of a receiver, and the choice of the one to close when there are too many.
///
/// Anyone can connect and send nothing. A connection counts as authenticated from its first request with the secret and
/// the mark. When there are too many, the oldest unauthenticated one is closed in favour of the new one, because a host
/// that has a delivery sends it at once.
struct ConnectionRoster<ID: Hashable & Sendable, Connection: Sendable>: Sendable {
    enum Admission {
        case admitted
        /// The other connection must be closed; it is not counted any more.
        case admittedInsteadOf(Connection)
        case turnedAway
    }

    private struct RosterEntry {
        let connection: Connection
        /// The position in the order of arrival.
        let number: Int
        var hasProvedItself = false
    }

    private let limit: Int
    private var places: [ID: RosterEntry] = [:]
    private var lastNumber = 0

    /// - Parameter limit: the largest number of connections.
    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { places.count }
    var all: [Connection] { places.values.map(\.connection) }

    mutating func admit(_ id: ID, _ connection: Connection) -> Admission {
        var admission = Admission.admitted
        if places.count >= limit {
            let strangers = places.lazy.filter { !$0.value.hasProvedItself }
            guard let oldest = strangers.min(by: { $0.value.number < $1.value.number }) else { return .turnedAway }
            places[oldest.key] = nil
            admission = .admittedInsteadOf(oldest.value.connection)
        }
        lastNumber += 1
        places[id] = RosterEntry(connection: connection, number: lastNumber)
        return admission
    }

    /// Called when a request on it has the secret and the mark: the connection will not be closed for others.
    mutating func provedItself(_ id: ID) { places[id]?.hasProvedItself = true }

    mutating func left(_ id: ID) { places[id] = nil }
}
