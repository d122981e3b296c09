public import Foundation

/// What a receiver knows its own hooks by: a mark in the path of their URL, and a secret in the headers of each delivery.
///
///     let key = WebhookKey(mark: UUID(uuidString: "6F0B3C1E-53F5-4B7E-9C58-0B1E9A6D2F11")!)
///
/// The mark stays the same from one start of a program to the next, so that it finds the hooks it has left behind; give each
/// process one of its own, that runs beside others. The secret may be new each time. On the server any account with the extended
/// privilege `fmodata` can read both: they keep strangers out, not colleagues.
public struct WebhookKey: Sendable, Hashable {
    /// The header that brings the secret: `X-FMData-Secret`.
    public static let header = "X-FMData-Secret"

    /// What marks the hooks of one receiver.
    public let mark: UUID
    /// What a delivery proves itself by. It is never printed.
    public let secret: String

    /// - Parameters:
    ///   - mark: the same at each start, and another one for each process.
    ///   - secret: by default 32 random bytes, in hexadecimal digits.
    public init(mark: UUID, secret: String = WebhookKey.randomSecret()) {
        self.mark = mark
        self.secret = secret
    }

    /// 32 random bytes from the system's generator, in hexadecimal digits.
    public static func randomSecret() -> String {
        (0..<32).map { _ in
            let byte = UInt8.random(in: .min ... .max)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        .joined()
    }

    /// The path of a hook's URL: `/<mark>/<database>/<table>`, each name percent-encoded. Whoever makes a hook by hand appends it
    /// to the address of the receiver; the table may be left out, and then only bodies that can be read say which it is.
    public func path(database: String, table: String? = nil) -> String {
        "/" + [mark.uuidString.lowercased(), database, table].compactMap { $0?.percentEncoded }.joined(separator: "/")
    }
}

extension WebhookKey: CustomStringConvertible, CustomReflectable {
    /// What it is, without the secret and the mark.
    public var description: String { "WebhookKey(••••)" }

    /// What a dump may show: no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
    fileprivate var percentEncoded: String {
        // Encoding fails for no text that Swift can hold.
        addingPercentEncoding(withAllowedCharacters: .unreserved) ?? ""
    }

    /// Whether two texts are the same bytes, found out in a time that does not depend on how many of them are.
    func isEqualInConstantTime(to other: String) -> Bool {
        let (mine, theirs) = (Array(utf8), Array(other.utf8))
        guard !mine.isEmpty else { return theirs.isEmpty }
        var difference = mine.count ^ theirs.count
        for (position, byte) in theirs.enumerated() { difference |= Int(byte ^ mine[position % mine.count]) }
        return difference == 0
    }
}

extension CharacterSet {
    /// RFC 3986 §2.3.
    fileprivate static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}
