import Testing

@testable import FMHTTP

struct SHA256Tests {
    private func digest(_ message: [UInt8]) -> String { SHA256.hash(message).hexadecimal }

    /// The examples of FIPS 180-4, and the longer ones that NIST publishes with it.
    @Test(arguments: [
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
                + "nopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func examplesOfTheStandard(text: String, expected: String) {
        #expect(digest(Array(text.utf8)) == expected)
    }

    @Test func aMillionLetters() {
        let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        #expect(digest(letters) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func messagesOfEachLengthOfABlock() {
        for (length, vector) in SHA256Vectors.short.enumerated() {
            #expect(vector.message.count == 2 * length)
            #expect(digest([UInt8](hexadecimal: vector.message)) == vector.digest, "\(length) bytes")
        }
    }

    @Test func aLongMessage() {
        #expect(digest([UInt8](hexadecimal: SHA256Vectors.long.message)) == SHA256Vectors.long.digest)
    }

    @Test func aThousandHashesOfHashes() {
        var seed = [UInt8](hexadecimal: SHA256Vectors.seedOfMonteCarlo)
        for checkpoint in SHA256Vectors.checkpointsOfMonteCarlo {
            var last = [seed, seed, seed]
            for _ in 0..<1_000 { last = [last[1], last[2], SHA256.hash(last[0] + last[1] + last[2])] }
            seed = last[2]
            #expect(seed.hexadecimal == checkpoint)
        }
    }

    /// Lengths around the padding's edges, as OpenSSL computes them.
    @Test(arguments: [
        (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
    ])
    func lengthsAroundTwoBlocks(count: Int, expected: String) {
        #expect(digest([UInt8](repeating: UInt8(ascii: "a"), count: count)) == expected)
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64OfRFC4648(text: String, base64: String) {
        #expect(Array(text.utf8).base64 == base64)
    }
}

extension [UInt8] {
    fileprivate init(hexadecimal text: String) {
        let digits = text.map { digit -> Int in
            guard let value = digit.hexDigitValue else { preconditionFailure("the vectors consist of digits") }
            return value
        }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    fileprivate var hexadecimal: String {
        let digits = Array<Character>("0123456789abcdef")
        return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
