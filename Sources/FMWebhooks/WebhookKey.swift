import FMData
public import Foundation

/// The mark and the secret by which a receiver recognizes its own webhooks: the mark is in the path of their URL, the
/// secret in a header of each delivery.
///
///     let key = WebhookKey(mark: UUID(uuidString: "6F0B3C1E-53F5-4B7E-9C58-0B1E9A6D2F11")!)
///
/// The mark must stay the same from one start of a program to the next, so that the program finds the webhooks it has
/// left behind. Processes that run at the same time need different marks. The secret may be new each time. On the
/// server, any account with the extended privilege `fmodata` can read both: they protect against strangers, not against
/// colleagues.
public struct WebhookKey: Sendable, Hashable {
    /// The header with the secret: `X-FMData-Secret`.
    public static let header = "X-FMData-Secret"

    /// Marks the webhooks of one receiver.
    public let mark: UUID
    /// The secret that authenticates a delivery. It is never printed.
    public let secret: String

    /// - Parameters:
    ///   - mark: the same at each start, and a different one for each process.
    ///   - secret: by default 32 random bytes, in hexadecimal digits.
    public init(mark: UUID, secret: String = WebhookKey.randomSecret()) {
        self.mark = mark
        self.secret = secret
    }

    /// 32 random bytes from the system's generator, in hexadecimal digits.
    public static func randomSecret() -> String { (0..<32).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal }

    /// The path of a webhook's URL: `/<mark>/<database>/<table>`, each name percent-encoded. To make a webhook by hand,
    /// append it to the receiver's address. The table may be omitted; then it is known only from readable bodies.
    public func path(database: String, table: String? = nil) -> String {
        "/" + [mark.uuidString.lowercased(), database, table].compactMap { $0?.percentEncoded }.joined(separator: "/")
    }
}

extension WebhookKey: CustomStringConvertible, CustomReflectable {
    /// The type's name only, without the secret and the mark.
    public var description: String { "WebhookKey(••••)" }

    /// Shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
    fileprivate var percentEncoded: String {
        // Never fails: encoding works for every text that Swift can hold.
        addingPercentEncoding(withAllowedCharacters: .unreserved) ?? ""
    }

    /// Whether two texts have the same bytes. The time taken does not depend on how many of them agree.
    func isEqualInConstantTime(to other: String) -> Bool {
        let (mine, theirs) = (Array(utf8), Array(other.utf8))
        guard !mine.isEmpty else { return theirs.isEmpty }
        var difference = mine.count ^ theirs.count
        for (position, byte) in theirs.enumerated() { difference |= Int(byte ^ mine[position % mine.count]) }
        return difference == 0
    }
}

extension CharacterSet {
    /// The unreserved characters of RFC 3986 §2.3.
    fileprivate static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}
