import CustomDump
import FMTestSupport
import NIOCore
import Testing

@testable import FMSandbox

struct ContentCodingTests {
    @Test(
        arguments: [
            (["gzip"], .gzip), (["deflate", "gzip"], .gzip), (["br", "gzip;q=0.5"], .gzip), (["GZIP ; q=1"], .gzip),
            (["x-gzip"], .gzip), (["deflate", "gzip;q=0.1"], .gzip), (["deflate"], .deflate), (["*"], .gzip),
            (["gzip;q=0", "deflate;q=0.1"], .deflate), (["gzip;q=0", "*"], .deflate), (["gzip;q=0", "*;q=0"], nil),
            (["gzip;q=x"], nil), (["gzip;q=-1"], nil), (["gzip;q=0.000"], nil), (["identity"], nil), (["gzipped"], nil),
            (["", ";", "q=1"], nil), ([], nil),
        ] as [([Substring], ContentCoding?)]
    )
    func gzipComesFirstOfWhatIsAccepted(_ accepted: [Substring], _ coding: ContentCoding?) {
        #expect(ContentCoding.chosen(from: accepted) == coding)
    }

    #if Compression
    private static let bodies = [
        [], [0x7B], Array(String(repeating: #"{"fieldData":{"Name":"Ada Lovelace"}},"#, count: 1000).utf8),
        noise(100_000),
    ]

    /// Random bytes, which cannot be compressed.
    private static func noise(_ count: Int) -> [UInt8] {
        var generator = SeededRandom(seed: 1)
        return (0..<count).map { _ in .random(in: 0...255, using: &generator) }
    }

    private func format(of coding: ContentCoding) -> CompressedFormat {
        switch coding {
        case .gzip: .gzip
        case .deflate: .zlib
        }
    }

    @Test(arguments: ContentCoding.allCases, bodies)
    func whatIsCompressedIsTheSameAgain(_ coding: ContentCoding, _ body: [UInt8]) throws {
        let compressed = try #require(coding.compressed(body[...]))
        let inflated = format(of: coding).inflated(compressed)
        #expect(Array(inflated.bytes.readableBytesView) == body)
        #expect(inflated.isWhole)
    }

    @Test(arguments: ContentCoding.allCases, bodies)
    func ofAPartAllComesAndNoEnd(_ coding: ContentCoding, _ body: [UInt8]) throws {
        let compressed = try #require(coding.compressed(body[...], isWhole: false))
        let inflated = format(of: coding).inflated(compressed)
        #expect(Array(inflated.bytes.readableBytesView) == body)
        #expect(!inflated.isWhole)
    }
    #endif
}
