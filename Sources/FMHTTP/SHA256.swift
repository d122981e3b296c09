/// SHA-256 ([FIPS 180-4](https://csrc.nist.gov/pubs/fips/180-4/upd1/final)), for key pins, for the keys of stored
/// tokens, and for the files that the command exports: this does not justify a cryptography package. NIOSSL, which is
/// linked anyway, does not expose the hashes of its BoringSSL. The tests check this implementation against the vectors
/// that NIST publishes. It does not run in constant time.
package struct SHA256 {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// The bytes that do not fill a block yet.
    private var waiting: [UInt8] = []
    private var byteCount: UInt64 = 0
    private var schedule = [UInt32](repeating: 0, count: 64)

    package init() {}

    /// The 32 bytes of the digest.
    package static func hash(_ message: [UInt8]) -> [UInt8] { SHA256().finished(with: message) }

    /// Adds a piece of the message.
    package mutating func add(_ bytes: some Collection<UInt8>) {
        byteCount += UInt64(bytes.count)
        waiting += bytes
        let whole = waiting.count / 64 * 64
        for start in stride(from: 0, to: whole, by: 64) { compress(start) }
        waiting.removeFirst(whole)
    }

    /// The 32 bytes of the digest of all pieces. Nothing can be added after that.
    package mutating func finish() -> [UInt8] {
        let bitCount = byteCount * 8
        waiting.append(0x80)
        waiting += [UInt8](repeating: 0, count: (120 - waiting.count % 64) % 64)
        withUnsafeBytes(of: bitCount.bigEndian) { waiting += $0 }
        for start in stride(from: 0, to: waiting.count, by: 64) { compress(start) }
        waiting = []
        return state.flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
    }

    /// The 32 bytes of the digest of all pieces and this last one. More can be added after that.
    package func finished(with last: [UInt8]) -> [UInt8] {
        var digest = self
        digest.add(last)
        return digest.finish()
    }

    private mutating func compress(_ start: Int) {
        for i in 0..<16 {
            let place = start + 4 * i
            schedule[i] =
                UInt32(waiting[place]) << 24 | UInt32(waiting[place + 1]) << 16 | UInt32(waiting[place + 2]) << 8
                | UInt32(waiting[place + 3])
        }
        for i in 16..<64 {
            let (early, late) = (schedule[i - 15], schedule[i - 2])
            let s0 = early.rotated(7) ^ early.rotated(18) ^ (early >> 3)
            let s1 = late.rotated(17) ^ late.rotated(19) ^ (late >> 10)
            schedule[i] = schedule[i - 16] &+ s0 &+ schedule[i - 7] &+ s1
        }
        // Variable names as in FIPS 180-4 §6.2.2.
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for i in 0..<64 {
            let s1 = e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)
            let t1 = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ Self.roundConstants[i] &+ schedule[i]
            let s0 = a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)
            let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
        }
        for (i, word) in [a, b, c, d, e, f, g, h].enumerated() { state[i] &+= word }
    }

    private static let roundConstants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self &>> count | self &<< (32 - count) }
}

extension [UInt8] {
    /// Base64 with padding (RFC 4648 §4), for key pins and basic authorization without Foundation.
    var base64: String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: count, by: 3) {
            let group = self[start..<Swift.min(start + 3, count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0..<4 {
                let digit = bits >> (18 - 6 * position) & 63
                text.append(position <= group.count ? alphabet[digit] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
