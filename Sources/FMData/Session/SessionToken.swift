/// The token of an open Data API session. It can be sent and stored, and never printed.
struct SessionToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let value: String
    /// The header value that proves it; every request of the session carries it, so it is put together once.
    let bearer: String

    init(_ value: String) {
        self.value = value
        bearer = "Bearer \(value)"
    }

    var description: String { "SessionToken(••••)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
