/// A connection, by number: what the machines say instead of holding one.
struct ConnectionID: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    var description: String { "connection \(number)" }
}

/// A request, by number, unique within a client.
struct RequestID: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    var description: String { "request \(number)" }
}
