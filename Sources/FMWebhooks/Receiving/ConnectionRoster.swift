/// The connections of a receiver, and which of them goes when there are too many.
///
/// Anybody can connect, and need not say anything. What a connection is worth shows with its first request that proves itself; until
/// then it is a stranger's, and the one that has been here longest makes room for the next: a host that has something to deliver
/// does so at once.
struct ConnectionRoster<ID: Hashable & Sendable, Connection: Sendable>: Sendable {
    enum Admission {
        case admitted
        /// The other one has to be closed, and is not counted any more.
        case admittedInsteadOf(Connection)
        case turnedAway
    }

    private struct Place {
        let connection: Connection
        /// Counted in the order of arrival.
        let number: Int
        var hasProvedItself = false
    }

    private let limit: Int
    private var places: [ID: Place] = [:]
    private var lastNumber = 0

    /// - Parameter limit: how many there may be.
    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { places.count }
    var all: [Connection] { places.values.map(\.connection) }

    mutating func admit(_ id: ID, _ connection: Connection) -> Admission {
        var admission = Admission.admitted
        if places.count >= limit {
            let strangers = places.lazy.filter { !$0.value.hasProvedItself }
            guard limit > 0, let oldest = strangers.min(by: { $0.value.number < $1.value.number }) else {
                return .turnedAway
            }
            places[oldest.key] = nil
            admission = .admittedInsteadOf(oldest.value.connection)
        }
        lastNumber += 1
        places[id] = Place(connection: connection, number: lastNumber)
        return admission
    }

    /// Its request has the secret and the mark: it stays.
    mutating func provedItself(_ id: ID) { places[id]?.hasProvedItself = true }

    mutating func left(_ id: ID) { places[id] = nil }
}
