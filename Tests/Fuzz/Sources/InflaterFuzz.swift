import FMTestSupport
import NIOCore

@testable import FMHTTP

/// The first byte of an input is the kind of the rest: a body that a server calls compressed, or a text to compress
/// here. The second is the size of the pieces in which the body arrives.
///
/// A body must not trap, must have the same result whole, in these pieces and byte by byte, and must not fill the
/// memory. A text must be decompressed unchanged, and only if all of it has arrived and nothing more.
enum InflaterFuzz {
    static func test(_ input: UnsafeRawBufferPointer) {
        guard input.count >= 2 else { return }
        let (mode, size) = (input[0], Int(input[1]) + 1)
        let rest = ByteBuffer(bytes: input.dropFirst(2))
        switch mode & 3 {
        case 0: checkBody(rest, pieces: size, maximumRatio: Int(mode >> 2) + 1, maySkipHeader: false)
        case 1: checkBody(rest, pieces: size, maximumRatio: Int(mode >> 2) + 1, maySkipHeader: true)
        case 2: checkText(rest, pieces: size, in: .gzip, members: Int(mode >> 2) + 1)
        default: checkText(rest, pieces: size, in: mode & 4 == 0 ? .zlib : .raw, members: 1)
        }
    }

    private static func checkBody(_ body: ByteBuffer, pieces size: Int, maximumRatio: Int, maySkipHeader: Bool) {
        let whole = Inflated([body], maySkipHeader: maySkipHeader)
        for size in [1, size] {
            let parts = Inflated(body.pieces(of: size), maySkipHeader: maySkipHeader)
            guard parts.isSame(as: whole) else { fatalError("pieces of \(size): \(parts) instead of \(whole)") }
            let limited = Inflated(body.pieces(of: size), maySkipHeader: maySkipHeader, maximumRatio: maximumRatio)
            guard limited.isSame(as: whole) || limited.problem == .tooLarge(maximumRatio: maximumRatio) else {
                fatalError("at most \(maximumRatio) times as large: \(limited) instead of \(whole)")
            }
        }
        // Whatever zlib reads to the end in one call must be read here too.
        for format in CompressedFormat.allCases where format != .raw || maySkipHeader && !body.beginsLikeAHeader {
            let opinion = format.inflated(body, maximumCount: 65_536)
            guard !opinion.isWhole || whole.problem == nil && whole.bytes == opinion.bytes else {
                fatalError("\(format): \(whole) instead of \(opinion.bytes)")
            }
        }
    }

    private static func checkText(_ text: ByteBuffer, pieces size: Int, in format: CompressedFormat, members: Int) {
        var body = ByteBuffer()
        var ends: [Int] = []
        for member in text.pieces(of: text.readableBytes / members + 1) {
            body.writeImmutableBuffer(format.compressed(member))
            ends.append(body.readableBytes)
        }
        let inflated = Inflated(body.pieces(of: size), maySkipHeader: true)
        guard inflated.problem == nil, inflated.bytes == text else { fatalError("\(inflated) instead of \(text)") }
        // Cut in the middle: anywhere, since pieces have any size.
        let count = body.readableBytes * size / 257
        let start = Inflated([body.getSlice(at: 0, length: count) ?? ByteBuffer()], maySkipHeader: true)
        guard start.problem == (count == 0 || ends.contains(count) ? nil : .truncated) else {
            fatalError("after \(count) of \(body.readableBytes) bytes: \(start)")
        }
        guard body.readableBytes > 0 else { return }
        body.writeInteger(UInt8(size - 1) == 0x1F ? 0 : UInt8(size - 1))
        let more = Inflated(body.pieces(of: size), maySkipHeader: true)
        guard more.problem == .trailingBytes else { fatalError("a byte more: \(more)") }
    }

    /// The result of inflating a body, with its chunks joined: how they were split does not matter.
    private struct Inflated {
        var bytes = ByteBuffer()
        var problem: Inflater.Problem?

        init(_ pieces: [ByteBuffer], maySkipHeader: Bool, maximumRatio: Int = .max) {
            var inflater = Inflater(maySkipHeader: maySkipHeader, maximumRatio: maximumRatio)
            var received = 0
            do throws(Inflater.Problem) {
                for piece in pieces {
                    received += piece.readableBytes
                    inflater.append(piece)
                    while let chunk = try inflater.next() {
                        guard (1...32_768).contains(chunk.readableBytes), chunk.storageCapacity <= 32_768 else {
                            fatalError("\(chunk.readableBytes) bytes in \(chunk.storageCapacity)")
                        }
                        bytes.writeImmutableBuffer(chunk)
                        guard (bytes.readableBytes - 1) / maximumRatio < received else {
                            fatalError("\(received) bytes became \(bytes.readableBytes)")
                        }
                    }
                }
                try inflater.finish()
            } catch {
                problem = error
                guard (try? inflater.next()) == .some(nil) else { fatalError("something is read after a problem") }
            }
        }

        /// In small pieces, more data may be inflated before a problem.
        func isSame(as other: Inflated) -> Bool {
            guard problem == other.problem else { return false }
            guard problem != nil else { return bytes == other.bytes }
            return zip(bytes.readableBytesView, other.bytes.readableBytesView).allSatisfy { $0 == $1 }
        }
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

    fileprivate var beginsLikeAHeader: Bool {
        readableBytesView.first.map { $0 == 0x1F || $0 & 0x0F == 8 } ?? false
    }
}
