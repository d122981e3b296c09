/// Who shares which exchange: events in, actions out. The shell around it is ``SharedReads``.
///
/// The first who asks for something begins an exchange, whoever asks for the same while it is under way joins, and the last who
/// goes ends it. What has ended is not joined, and neither is what began before a write was answered: whoever reads after a write
/// has to see it.
struct SharingMachine<Key: Hashable> {
    enum Joining: Equatable {
        /// Nobody is asking for it: begin this flight.
        case begin(flight: Int)
        case wait(flight: Int)
    }

    private struct Flight {
        var key: Key
        var readers: [Int]
    }

    private var flights: [Int: Flight] = [:]
    /// The flights that may be joined.
    private var open: [Key: Int] = [:]
    private var lastID = 0

    mutating func joined(_ reader: Int, _ key: Key) -> Joining {
        if let flight = open[key] {
            flights[flight]?.readers.append(reader)
            return .wait(flight: flight)
        }
        lastID += 1
        flights[lastID] = Flight(key: key, readers: [reader])
        open[key] = lastID
        return .begin(flight: lastID)
    }

    /// Returns whether the flight is to be cancelled, since nobody waits for it any more.
    mutating func left(_ reader: Int, _ flight: Int) -> Bool {
        guard let index = flights[flight]?.readers.firstIndex(of: reader) else { return false }
        flights[flight]?.readers.remove(at: index)
        guard flights[flight]?.readers.isEmpty == true else { return false }
        forget(flight)
        return true
    }

    /// Returns who waits for the flight, in the order in which they came.
    mutating func ended(_ flight: Int) -> [Int] {
        let readers = flights[flight]?.readers ?? []
        forget(flight)
        return readers
    }

    /// Whether nothing was written since it began: who asks for the same may have its answer.
    func isOpen(_ flight: Int) -> Bool {
        flights[flight].map { open[$0.key] == flight } ?? false
    }

    /// Something may have been written.
    mutating func wrote() { open = [:] }

    private mutating func forget(_ flight: Int) {
        guard let key = flights.removeValue(forKey: flight)?.key, open[key] == flight else { return }
        open[key] = nil
    }
}
