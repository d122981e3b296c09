#if Fleet
import Crypto
import Foundation

/// The keys with which the members of a fleet seal their tokens: AES-256 in Galois/Counter mode.
///
/// All members need the same keys. To rotate a key, first give the new one to all members beside the old one, then make
/// it the current one everywhere, and remove the old one after 15 minutes, when no token that it sealed lives any more.
/// A member that lacks a key takes a token for none: it costs a login, and is counted
/// (``FleetCounters/unreadableTokens``).
///
///     let keys = try FleetKeys([1: old, 2: new], current: 2)
///
/// Keys are 32 random bytes, for instance from `openssl rand -base64 32`.
public struct FleetKeys: Sendable {
    /// The keys cannot be used.
    public enum Invalid: Error, Hashable, Sendable {
        /// The key with this number is not of 32 bytes.
        case length(UInt32)
        /// There is no key with the current number.
        case noCurrentKey
    }

    private let keys: [UInt32: SymmetricKey]
    private let current: UInt32
    private let currentKey: SymmetricKey

    /// Keys by their numbers, which stand in front of what is sealed.
    ///
    /// - Parameters:
    ///   - keys: 32 bytes each.
    ///   - current: the number of the key that is used for sealing. The others only open.
    public init(_ keys: [UInt32: [UInt8]], current: UInt32) throws(Invalid) {
        for (number, bytes) in keys.sorted(by: { $0.key < $1.key }) where bytes.count != 32 {
            throw .length(number)
        }
        self.keys = keys.mapValues { SymmetricKey(data: $0) }
        self.current = current
        guard let currentKey = self.keys[current] else { throw .noCurrentKey }
        self.currentKey = currentKey
    }

    /// `01 | number of the key (4) | nonce (12) | ciphertext | tag (16)`. The place is authenticated, so that nothing
    /// can be moved.
    func seal(_ content: [UInt8], for place: String) throws -> [UInt8] {
        let box = try AES.GCM.seal(content, using: currentKey, authenticating: Self.context(place))
        var sealed: [UInt8] = [Self.version]
        withUnsafeBytes(of: current.bigEndian) { sealed += $0 }
        sealed += Array(box.nonce)
        sealed += Array(box.ciphertext)
        sealed += Array(box.tag)
        return sealed
    }

    /// `nil` when the key is unknown, the place another one, or a byte was changed.
    func open(_ sealed: [UInt8], at place: String) -> [UInt8]? {
        guard sealed.count > 5 + 12 + 16, sealed[0] == Self.version else { return nil }
        let number = sealed[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let key = keys[number] else { return nil }
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: sealed[5..<17]),
                ciphertext: sealed[17..<(sealed.count - 16)],
                tag: sealed[(sealed.count - 16)...]
            )
            return Array(try AES.GCM.open(box, using: key, authenticating: Self.context(place)))
        } catch {
            return nil
        }
    }

    var sealer: Sealer {
        Sealer(seal: { try seal($0, for: $1) }, open: { open($0, at: $1) })
    }

    private static let version: UInt8 = 1

    private static func context(_ place: String) -> [UInt8] { [version] + Array(place.utf8) }
}

extension FleetKeys: CustomStringConvertible, CustomReflectable {
    /// The number of the current key.
    public var description: String { "FleetKeys(current: \(current))" }

    /// The numbers of the keys, without the keys.
    public var customMirror: Mirror { Mirror(self, children: ["numbers": keys.keys.sorted(), "current": current]) }
}
#endif
