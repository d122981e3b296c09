/// Decides which readers share which exchange: events in, actions out. The shells around it are
/// ``SharedReads`` and ``LayoutMemory``.
///
/// The first reader of a key begins an exchange, later readers join it while it is under way, and it is cancelled when
/// the last of them leaves. An exchange that has ended cannot be joined, nor can one that began before a write was
/// answered, since a read after a write must see what was written.
struct SharingMachine<Key: Hashable> {
    enum FlightAssignment: Equatable {
        /// No exchange can be joined: begin this flight.
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

    mutating func joined(_ reader: Int, _ key: Key) -> FlightAssignment {
        if let flight = open[key] {
            flights[flight]?.readers.append(reader)
            return .wait(flight: flight)
        }
        lastID += 1
        flights[lastID] = Flight(key: key, readers: [reader])
        open[key] = lastID
        return .begin(flight: lastID)
    }

    /// Returns whether the flight has to be cancelled, since no reader waits for it any more.
    mutating func left(_ reader: Int, _ flight: Int) -> Bool {
        guard let index = flights[flight]?.readers.firstIndex(of: reader) else { return false }
        flights[flight]?.readers.remove(at: index)
        guard flights[flight]?.readers.isEmpty == true else { return false }
        forget(flight)
        return true
    }

    /// Returns the readers that wait for the flight, in the order in which they joined.
    mutating func ended(_ flight: Int) -> [Int] {
        let readers = flights[flight]?.readers ?? []
        forget(flight)
        return readers
    }

    /// Whether nothing was written since the flight began, so that later reads may use its answer.
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
