import FMDataCore
import FMHTTP
import Foundation

/// Distinguishes a row from others without holding its values: the first 16 bytes of the SHA-256 of the journal's salt,
/// the kind of write and the fields.
///
/// It does not keep the values secret: a reader of the journal can try values until one matches.
struct RowDigest: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// - Parameters:
    ///   - write: the kind of write and its record: `edit 17 3`.
    ///   - fields: in any order.
    init(salt: [UInt8], write: String, fields: [WireValue.Member] = []) {
        var bytes = salt
        let sorted = fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        // JSON marks where each part ends.
        bytes += WireValue.array([.text(write), .object(sorted)]).json
        let hash = SHA256.hash(bytes)
        high = hash[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = hash[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    init?(text: ArraySlice<UInt8>) {
        guard let bytes = Hexadecimal.bytes(text), bytes.count == 16 else { return nil }
        high = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The key that a row gets that has none: the same for the same row at the same place, and another one in each
    /// journal, whose random salt is in the digest.
    func key(ofRow row: Int) -> String {
        var bytes = SHA256.hash(Array("\(text) \(row)".utf8))[...]
        return UUID(random: { bytes.popFirst().map { Double($0) / 256 } ?? 0 }).uuidString
    }

    /// 32 hexadecimal digits.
    var text: String {
        Hexadecimal.text(
            [high, low].flatMap { part in
                stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: part >> $0) }
            }
        )
    }
}
