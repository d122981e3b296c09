import FMHTTP

/// What tells a row from another one without holding its values: the first 16 bytes of the SHA-256 of the journal's
/// salt, of what is to be done and of the fields.
///
/// It is no secret's keeper: who has the journal can try values until one fits.
struct RowDigest: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// - Parameters:
    ///   - write: which write it is, and of what: `edit 17 3`.
    ///   - fields: in any order.
    init(salt: [UInt8], write: String, fields: [WireValue.Member] = []) {
        var bytes = salt
        let sorted = fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        // JSON says where each part ends.
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

    /// 32 hexadecimal digits.
    var text: String {
        Hexadecimal.text(
            [high, low].flatMap { part in
                stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: part >> $0) }
            }
        )
    }
}
