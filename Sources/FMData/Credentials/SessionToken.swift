/// The token of an open Data API session, or a key that is sent like one. It can be sent and stored, but is never
/// printed.
struct SessionToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let value: String
    /// The value of the `Authorization` header. Every request of the session carries it, so it is built once.
    let bearer: String

    init(_ value: String) {
        self.value = value
        bearer = "Bearer \(value)"
    }

    var description: String { "SessionToken(••••)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
