/// Makes texts that look random and are the same in every run.
enum Scrambler {
    /// `count` hexadecimal digits for item `number` of the kind `seed`.
    static func hex(_ count: Int, seed: String, number: Int, uppercase: Bool = false) -> String {
        var state = seed.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        state ^= UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15
        var digits = ""
        while digits.count < count {
            // splitmix64
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            word ^= word >> 31
            let part = String(word, radix: 16, uppercase: uppercase)
            digits += String(repeating: "0", count: 16 - part.count) + part
        }
        return String(digits.prefix(count))
    }
}
