/// A number for a connection: the state machines use it instead of the object.
struct ConnectionID: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    var description: String { "connection \(number)" }
}

/// A number for a request, unique within a client.
struct RequestID: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    var description: String { "request \(number)" }
}
