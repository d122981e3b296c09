import NIOCore
import NIOHTTP1

@testable import FMHTTP

/// The first byte of an input selects the method of the answered requests, whether the answer goes on for ever, and the
/// part that is then repeated; the second is the size of the pieces in which the rest arrives. The rest must not trap,
/// must have the same result whole, in these pieces and byte by byte, and must not fill the memory.
enum ResponseParserFuzz {
    /// Small enough for inputs to reach them.
    private static let limits = ResponseParser.Limits(maximumHeadBytes: 256, maximumHeaderCount: 8)

    static func test(_ input: UnsafeRawBufferPointer) {
        guard input.count >= 2 else { return }
        let method = [HTTPMethod.GET, .HEAD, .CONNECT, .POST][Int(input[0] & 3)]
        let size = Int(input[1]) + 1
        let bytes = ByteBuffer(bytes: input.dropFirst(2))
        let whole = reading(bytes, pieces: bytes.readableBytes, of: method)
        for size in [1, size] {
            let parts = reading(bytes, pieces: size, of: method)
            guard parts == whole else { fatalError("pieces of \(size): \(parts) instead of \(whole)") }
        }
        if input[0] & 4 != 0 {
            var rest = bytes
            guard let start = rest.readSlice(length: rest.readableBytes * Int(input[0] >> 3) / 32) else { return }
            endless(start, rest, pieces: max(size, 16), of: method)
        }
    }

    /// The parsed responses, with the chunks of a body joined: how they were split does not matter.
    private struct Reading: Equatable {
        var events: [ResponseParser.Event] = []
        var problem: ResponseParser.Problem?
        var bodyBytes = 0
        var bodyLength = ResponseParser.BodyLength.none

        mutating func take(_ event: ResponseParser.Event) {
            switch event {
            case .informational:
                events.append(event)
            case .head(_, _, let length):
                events.append(event)
                bodyBytes = 0
                bodyLength = length
            case .body(var bytes):
                guard bytes.readableBytes > 0 else { fatalError("an empty chunk") }
                bodyBytes += bytes.readableBytes
                if case .body(var joined) = events.last {
                    joined.writeBuffer(&bytes)
                    events[events.count - 1] = .body(joined)
                } else {
                    events.append(event)
                }
            case .end:
                events.append(event)
                switch bodyLength {
                case .none where bodyBytes > 0: fatalError("a body of \(bodyBytes) bytes where none can be")
                case .fixed(let length) where bodyBytes != length: fatalError("\(bodyBytes) of \(length) bytes")
                case .none, .fixed, .chunked, .untilClose: break
                }
            }
        }
    }

    /// Parses response after response, until the bytes end or are invalid.
    private static func reading(_ bytes: ByteBuffer, pieces size: Int, of method: HTTPMethod) -> Reading {
        var parser = ResponseParser(limits: limits)
        var reading = Reading()
        do throws(ResponseParser.Problem) {
            for piece in pieces(of: bytes, size) {
                parser.append(piece)
                try drain(&parser, of: method) { reading.take($0) }
                checkMemory(parser, piece.readableBytes)
            }
            if let event = try parser.finish() { reading.take(event) }
        } catch {
            reading.problem = error
            guard (try? parser.next()) == .some(nil) else { fatalError("something is read after a problem") }
        }
        return reading
    }

    /// Parses a start, and then the same part again and again, as from a server that never stops.
    private static func endless(_ start: ByteBuffer, _ again: ByteBuffer, pieces size: Int, of method: HTTPMethod) {
        var parser = ResponseParser(limits: limits)
        var arriving = pieces(of: start, size)
        var fed = 0
        do throws(ResponseParser.Problem) {
            repeat {
                for piece in arriving {
                    parser.append(piece)
                    try drain(&parser, of: method) { _ in }
                    checkMemory(parser, piece.readableBytes)
                    fed += piece.readableBytes
                }
                arriving = pieces(of: again, size)
            } while fed < 32_768 && !arriving.isEmpty
        } catch {}
    }

    private static func drain(
        _ parser: inout ResponseParser,
        of method: HTTPMethod,
        _ take: (ResponseParser.Event) -> Void
    ) throws(ResponseParser.Problem) {
        repeat {
            if parser.isIdle { parser.begin(method: method) }
            while let event = try parser.next() { take(event) }
        } while parser.hasLeftover
    }

    private static func pieces(of bytes: ByteBuffer, _ size: Int) -> [ByteBuffer] {
        var rest = bytes
        var pieces: [ByteBuffer] = []
        while rest.readableBytes > 0 {
            // A piece with memory of its own, like that of a socket.
            pieces.append(ByteBuffer(bytes: rest.readBytes(length: min(size, rest.readableBytes)) ?? []))
        }
        return pieces
    }

    /// A parser keeps an unfinished line or head only, however much it has read.
    private static func checkMemory(_ parser: ResponseParser, _ lastPiece: Int) {
        var parser = parser
        let held = parser.takeLeftover()
        let longestLine = 4096
        guard held.readableBytes <= longestLine, held.storageCapacity <= 4 * (longestLine + lastPiece) else {
            fatalError("\(held.readableBytes) bytes are held in \(held.storageCapacity)")
        }
    }
}
