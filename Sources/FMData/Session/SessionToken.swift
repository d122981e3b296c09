/// The token of an open Data API session. It can be sent and stored, and never printed.
struct SessionToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let value: String

    init(_ value: String) {
        self.value = value
    }

    var description: String { "SessionToken(••••)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
