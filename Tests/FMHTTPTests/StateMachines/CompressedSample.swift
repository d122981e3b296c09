import Foundation
import Testing

/// A compressed body made by another implementation: GNU gzip, which has its own deflate, or Python with a hand-made
/// header.
struct CompressedSample: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    var testDescription: String { name }

    init(_ name: String, _ base64: String) {
        self.name = name
        bytes = Data(base64Encoded: base64).map(Array.init) ?? []
    }

    var isRaw: Bool { name.hasPrefix("raw") }

    /// The positions at which a truncated body may end: after a member of gzip.
    var endsOfMembers: [Int] {
        Array(bytes.indices.filter { bytes[$0...].starts(with: [0x1F, 0x8B, 0x08]) }.dropFirst())
    }

    /// The decompressed text of all samples.
    static let text = """
        {"fieldData":{"Name":"Ada Lovelace","City":"London"}},{"fieldData":{"Name":"Mary Somerville","City":"Jedburgh"}},\
        {"fieldData":{"Name":"Émilie du Châtelet","City":"Paris"}},\
        {"fieldData":{"Name":"Sofja Kowalewskaja","City":"Moskwa"}}
        """

    static let all = [
        CompressedSample(
            "gzip, by GNU gzip, with a name and a time",
            """
            H4sICECjh2cCA3Blb3BsZS5qc29uAHXLQQ6CMBAAwK80e+YF3AyeFIwJL1jtIoUtm7SFhjQ8wG/4FT4mNzzIdZJJ0BhifcaAkCe4\
            oSXI4aRRlTIR45Mgg8KEedNSBi0DLEuW/q4K3axqseQmw/wTL6Qfo3u1x3V9W8OGlB5V0a6fQExh/3d0xh/nWpoO1VUiMkXfY4d7\
            rcT3Ebf7BT27nzXpAAAA
            """
        ),
        CompressedSample(
            "gzip with a checksum of its header, a comment, a name and an extra field",
            """
            H4sIHgAAAAAA/wYARk0CAGhpYQBiIGMAwdV1zUEOgjAQQNGrNLPmBOwMrhSMCScY7SCFKZO0hYY0HMBreBUuJjtcyPYnLz9BY4j1\
            GQNCnuCGliCHk0ZVykSMT4IMChPmrZYyaBlgWbL0V1XoZlWLJTcZ5h94If0Y3as9puvbGjak9KiKdv0EYgr7+I7O+GNcS9OhukpE\
            puh77HCnlfg+4ma/PbufNekAAAA=
            """
        ),
        CompressedSample(
            "gzip of three members, by GNU gzip and Python; the second one is empty",
            """
            H4sIAAAAAAACA6tWSstMzUlxSSxJVLKqVvJLzE1VslJyTElU8MkvS81JTE5V0lFyziypBIr65Oel5Ocp1dbqVGPV5ZtYVKkQnJ+b\
            WlSWmZODpNErNSWptCg9A6oVAD8acvJ0AAAAH4sIAAAAAAACAwMAAAAAAAAAAAAfiwgAAAAAAAIDy0zNSXFJLElUsqpW8kvMTVWy\
            UjrcmZuZk5mqkFKq4JxxeFFJak5qiZKOknNmSSVQNiCxKLNYqbZWp1opLRNTc3B+Wlaignd+eWJOanlxdmJWIkKrb35xdnkiUC8A\
            lAkwZnUAAAA=
            """
        ),
        CompressedSample(
            "zlib",
            """
            eNp1y0EOgjAQAMCvNHvmBdwMnhSMCS9Y7SKFLZu0hYY0PMBv+BU+Jjc8yHWSSdAYYn3GgJAnuKElyOGkUZUyEeOTIIPChHnTUgYt\
            AyxLlv6uCt2sarHkJsP8Ey+kH6N7tcd1fVvDhpQeVdGun0BMYf93dMYf51qaDtVVIjJF32OHe63E9xG3+wXQ108p
            """
        ),
        CompressedSample(
            "zlib with the smallest window",
            """
            GBl1zUEOgjAQQNGrNLPmBOwMrhSMCScY7SCFKZO0hYY0HMBreBUuJjtcyPYnLz9BY4j1GQNCnuCGliCHk0ZVykSMT4IMChPmrZYy\
            aBlgWbL0V1XoZlWLJTcZ5h94If0Y3as9puvbGjak9KiKdv0EYgr7+I7O+GNcS9OhukpEpuh77HCnlfg+4ma/0NdPKQ==
            """
        ),
        CompressedSample(
            "raw deflate, a block with codes of its own",
            """
            dctBDoIwEADArzR75gXcDJ4UjAkvWO0ihS2btIWGNDzAb/gVPiY3PMh1kknQGGJ9xoCQJ7ihJcjhpFGVMhHjkyCDwoR501IGLQMs\
            S5b+rgrdrGqx5CbD/BMvpB+je7XHdX1bw4aUHlXRrp9ATGH/d3TGH+damg7VVSIyRd9jh3utxPcRt/sF
            """
        ),
        CompressedSample(
            "raw deflate, a block with the fixed codes",
            """
            q1ZKy0zNSXFJLElUsqpW8kvMTVWyUnJMSVTwyS9LzUlMTlXSUXLOLKkEivrk56Xk5ynV1upUY9Xlm1hUqRCcn5taVJaZk4Ok0Ss1\
            Jam0KD0Dt9bDnbmZOZmpCimlCs4ZhxeVpOakliD0ByQWZRbj1hycn5aVqOCdX56Yk1penJ2YlYjQ6ptfnF2eCNQLAA==
            """
        ),
        CompressedSample(
            "raw deflate, a stored block",
            """
            AekAFv97ImZpZWxkRGF0YSI6eyJOYW1lIjoiQWRhIExvdmVsYWNlIiwiQ2l0eSI6IkxvbmRvbiJ9fSx7ImZpZWxkRGF0YSI6eyJO\
            YW1lIjoiTWFyeSBTb21lcnZpbGxlIiwiQ2l0eSI6IkplZGJ1cmdoIn19LHsiZmllbGREYXRhIjp7Ik5hbWUiOiLDiW1pbGllIGR1\
            IENow6J0ZWxldCIsIkNpdHkiOiJQYXJpcyJ9fSx7ImZpZWxkRGF0YSI6eyJOYW1lIjoiU29mamEgS293YWxld3NrYWphIiwiQ2l0\
            eSI6Ik1vc2t3YSJ9fQ==
            """
        ),
    ]
}
