import FMHTTP

/// The token of an open Data API session, or a key that is sent like one. It can be sent and stored, but is never
/// printed.
package struct SessionToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let value: String
    /// The value of the `Authorization` header. Every request of the session carries it, so it is built once.
    let bearer: String

    init(_ value: String) {
        self.value = value
        bearer = "Bearer \(value)"
    }

    /// A name for the log: the beginning of a digest, from which the token cannot be found.
    var shortName: String {
        SHA256.hash(Array(value.utf8)).prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    package var description: String { "SessionToken(••••)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
