#if Compression
import CustomDump
import FMTestSupport
import NIOCore
import Testing

@testable import FMHTTP

/// The result of inflating a body, with its chunks joined.
private struct Inflated: Equatable {
    var bytes = ByteBuffer()
    var problem: Inflater.Problem?

    var text: String { String(buffer: bytes) }

    /// Feeds the pieces, then the end.
    init(_ pieces: [ByteBuffer], maySkipHeader: Bool = true, maximumRatio: Int = .max) {
        var inflater = Inflater(maySkipHeader: maySkipHeader, maximumRatio: maximumRatio)
        do throws(Inflater.Problem) {
            for piece in pieces {
                inflater.append(piece)
                while let chunk = try inflater.next() { bytes.writeImmutableBuffer(chunk) }
            }
            try inflater.finish()
        } catch {
            problem = error
        }
    }

    init(_ bytes: ByteBuffer, maySkipHeader: Bool = true, maximumRatio: Int = .max) {
        self.init([bytes], maySkipHeader: maySkipHeader, maximumRatio: maximumRatio)
    }
}

struct InflaterTests {
    // MARK: Formats

    @Test(arguments: CompressedSample.all)
    func whatOthersWroteIsReadHoweverItIsCut(_ sample: CompressedSample) {
        let whole = ByteBuffer(bytes: sample.bytes)
        expectNoDifference(Inflated(whole).text, CompressedSample.text)
        for size in 1...sample.bytes.count {
            let inflated = Inflated(whole.pieces(of: size))
            #expect(inflated.problem == nil, "pieces of \(size)")
            #expect(inflated.text == CompressedSample.text, "pieces of \(size)")
        }
    }

    @Test(arguments: CompressedSample.all)
    func withoutAHeaderIsDeflateAlone(_ sample: CompressedSample) {
        let inflated = Inflated(ByteBuffer(bytes: sample.bytes), maySkipHeader: false)
        if sample.isRaw {
            expectNoDifference(inflated.problem, .damaged("incorrect header check"))
        } else {
            expectNoDifference(inflated.text, CompressedSample.text)
        }
    }

    @Test func aBodyOfNoBytesIsEmpty() {
        let inflated = Inflated([])
        #expect(inflated.problem == nil)
        #expect(inflated.bytes.readableBytes == 0)
    }

    // MARK: Truncated and trailing data

    /// Between two members of gzip a body may end: only HTTP could tell that another one was to come.
    @Test(arguments: CompressedSample.all)
    func whatEndsTooEarlyIsTold(_ sample: CompressedSample) {
        let ends = sample.endsOfMembers
        for count in 1..<sample.bytes.count where !ends.contains(count) {
            let inflated = Inflated(ByteBuffer(bytes: sample.bytes.prefix(count)))
            #expect(inflated.problem == .truncated, "after \(count) bytes")
            #expect(CompressedSample.text.utf8.starts(with: inflated.bytes.readableBytesView))
        }
    }

    /// Also a zero: HTTP bodies have no padding.
    @Test(arguments: CompressedSample.all, [[0], [0x0A], [0x1E, 0x8B]] as [[UInt8]])
    func bytesBehindTheEndAreRefused(_ sample: CompressedSample, _ trailing: [UInt8]) {
        let inflated = Inflated(ByteBuffer(bytes: sample.bytes + trailing))
        expectNoDifference(inflated.problem, .trailingBytes)
        let inPieces = Inflated(ByteBuffer(bytes: sample.bytes + trailing).pieces(of: 1))
        expectNoDifference(inPieces.problem, .trailingBytes)
        expectNoDifference(inPieces.text, CompressedSample.text)
    }

    @Test func onlyGzipHasMembers() {
        let gzip = CompressedFormat.gzip.compressed(ByteBuffer(string: "a"))
        let zlib = CompressedFormat.zlib.compressed(ByteBuffer(string: "b"))
        #expect(Inflated([gzip, gzip]).text == "aa")
        #expect(Inflated([gzip, zlib]).problem == .trailingBytes)
        #expect(Inflated([zlib, zlib]).problem == .trailingBytes)
        #expect(Inflated([zlib, gzip]).problem == .trailingBytes)
    }

    // MARK: Damage

    /// The checksums of gzip and zlib detect each wrong bit in the data. A wrong bit in a name or a time does no harm.
    @Test(arguments: CompressedSample.all.filter { !$0.isRaw })
    func noWrongBitBecomesAnotherText(_ sample: CompressedSample) {
        var harmless = 0
        for bit in 0..<8 * sample.bytes.count {
            var bytes = sample.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            let inflated = Inflated(ByteBuffer(bytes: bytes))
            if inflated.problem == nil {
                harmless += 1
                #expect(inflated.text == CompressedSample.text, "bit \(bit)")
            }
        }
        #expect(harmless < sample.bytes.count, "most of the bits matter")
    }

    @Test(
        arguments: [
            ("hello", "incorrect header check"), ("\u{1F}\u{0B}\u{08}", "incorrect header check"),
            ("\u{07}", "invalid block type"), ("x\u{02}", "incorrect header check"),
        ]
    )
    func whatIsNoneOfTheFormatsIsToldInTheWordsOfZlib(_ text: String, _ words: String) {
        expectNoDifference(Inflated(ByteBuffer(string: text)).problem, .damaged(words))
    }

    /// A stream that needs a dictionary on which both sides would have to agree.
    @Test func aDictionaryThatNobodyHasIsTold() {
        let sample = CompressedSample("zlib with a dictionary", "ePlXqwcUq0YRra0FADFHBe0=")
        expectNoDifference(Inflated(ByteBuffer(bytes: sample.bytes)).problem, .damaged("need dictionary"))
    }

    @Test func nothingIsReadAfterAProblem() {
        let gzip = CompressedFormat.gzip.compressed(ByteBuffer(string: "a"))
        var inflater = Inflater(maySkipHeader: false, maximumRatio: 500)
        var problems: [Inflater.Problem] = []
        for bytes in [ByteBuffer(string: "hello"), gzip] {
            inflater.append(bytes)
            do throws(Inflater.Problem) {
                let chunk = try inflater.next()
                #expect(chunk == nil)
            } catch {
                problems.append(error)
            }
        }
        expectNoDifference(problems, [.damaged("incorrect header check")])
    }

    // MARK: Sizes

    private static let zeros = CompressedFormat.gzip.compressed(ByteBuffer(repeating: 0, count: 1_000_000))

    @Test func aBodyMayGrowByTheRatioAndNoMore() {
        let ratio = 1_000_000 / Self.zeros.readableBytes
        expectNoDifference(Inflated(Self.zeros, maximumRatio: ratio).problem, .tooLarge(maximumRatio: ratio))
        let inflated = Inflated(Self.zeros, maximumRatio: ratio + 1)
        #expect(inflated.problem == nil)
        #expect(inflated.bytes.readableBytes == 1_000_000)
        // Multiplying would overflow.
        #expect(Inflated(Self.zeros, maximumRatio: .max).problem == nil)
    }

    @Test(arguments: [1, 2, 100, 5000])
    func theRatioIsThatOfWhatHasArrived(_ size: Int) {
        var inflater = Inflater(maySkipHeader: false, maximumRatio: 100)
        var (received, inflated) = (0, 0)
        var problem: Inflater.Problem?
        do throws(Inflater.Problem) {
            for piece in Self.zeros.pieces(of: size) {
                received += piece.readableBytes
                inflater.append(piece)
                while let chunk = try inflater.next() {
                    inflated += chunk.readableBytes
                    #expect(inflated <= 100 * received)
                }
            }
        } catch {
            problem = error
        }
        expectNoDifference(problem, .tooLarge(maximumRatio: 100))
    }

    @Test func aChunkTakesNoMoreMemoryThanItsInputIsWorth() throws {
        // 32 KB at most.
        var inflater = Inflater(maySkipHeader: false, maximumRatio: .max)
        inflater.append(Self.zeros)
        while let chunk = try inflater.next() { #expect(chunk.storageCapacity <= 32 << 10) }
        // A small input makes a small chunk.
        inflater = Inflater(maySkipHeader: false, maximumRatio: .max)
        for piece in CompressedFormat.gzip.compressed(ByteBuffer(string: CompressedSample.text)).pieces(of: 16) {
            inflater.append(piece)
            while let chunk = try inflater.next() { #expect(chunk.storageCapacity <= 512) }
        }
    }

    /// A single byte of input can inflate to far more than one chunk has room for.
    @Test func whatAChunkHasNoRoomForIsInTheNextOne() {
        let inflated = Inflated(Self.zeros.pieces(of: 1))
        #expect(inflated.problem == nil)
        #expect(inflated.bytes == ByteBuffer(repeating: 0, count: 1_000_000))
    }
}

extension ByteBuffer {
    /// Pieces that each have their own memory, like those of a socket.
    fileprivate func pieces(of size: Int) -> [ByteBuffer] {
        var rest = self
        var pieces: [ByteBuffer] = []
        while rest.readableBytes > 0 {
            pieces.append(ByteBuffer(bytes: rest.readBytes(length: min(size, rest.readableBytes)) ?? []))
        }
        return pieces
    }
}
#endif
