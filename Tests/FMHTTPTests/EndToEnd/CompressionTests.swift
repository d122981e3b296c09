#if Compression
import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@Suite(.timeLimit(.minutes(15)))
struct CompressionTests {
    private static let text = (0..<500).map { "{\"recordId\": \"\($0)\"}" }.joined(separator: ",")

    /// A whole response, with a body of compressed bytes.
    private static func answer(_ body: ByteBuffer, coding: String = "gzip") -> ByteBuffer {
        let length = "Content-Length: \(body.readableBytes)"
        var answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n\(length)\r\n\r\n")
        answer.writeImmutableBuffer(body)
        return answer
    }

    /// The same response as sent by servers that do not know the length: in chunks, here of three bytes.
    private static func chunkedAnswer(_ body: ByteBuffer) -> ByteBuffer {
        var answer = ByteBuffer(
            string: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        var rest = body
        while let chunk = rest.readSlice(length: min(3, rest.readableBytes)), chunk.readableBytes > 0 {
            answer.writeString("\(chunk.readableBytes)\r\n")
            answer.writeImmutableBuffer(chunk)
            answer.writeString("\r\n")
        }
        answer.writeString("0\r\n\r\n")
        return answer
    }

    private static func compressed(_ text: String, _ format: CompressedFormat = .gzip) -> ByteBuffer {
        format.compressed(ByteBuffer(string: text))
    }

    @Test(
        arguments: [
            ("gzip", CompressedFormat.gzip), ("X-GZIP", .gzip), ("deflate", .zlib), ("deflate", .raw),
        ]
    )
    func asksAndInflates(coding: String, format: CompressedFormat) async throws {
        let answer = Self.answer(Self.compressed(Self.text, format), coding: coding)
        try await withServer(answer: { _ in [.send(answer)] }) { client, server, origin in
            for _ in 0..<2 {
                let response = await client.get(origin).value
                #expect(response?.text == Self.text)
                #expect(response?.headers["content-encoding"] == [coding])
            }
            #expect(server.requests[0].headers["accept-encoding"] == ["gzip, deflate"])
            #expect(server.acceptedCount == 1)
        }
    }

    @Test func inflatesHoweverTheBytesAreCut() async throws {
        let answer = Self.chunkedAnswer(Self.compressed(Self.text))
        try await withServer(answer: { _ in [.sendByteByByte(answer)] }) { client, _, origin in
            #expect(await client.get(origin).value?.text == Self.text)
        }
    }

    @Test func inflatesUnderDemand() async throws {
        let answer = Self.answer(Self.compressed(String(repeating: Self.text, count: 50)))
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            let subscriber = TrackingSubscriber<HTTPResponsePart, HTTPClientError>(
                initialDemand: .max(1),
                demandAfterValue: { _ in .max(1) }
            )
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            #expect(await subscriber.completion() == .finished)
            let count = subscriber.values.reduce(0) { sum, part in
                if case .body(let bytes) = part { sum + bytes.readableBytes } else { sum }
            }
            #expect(count == Self.text.utf8.count * 50)
        }
    }

    @Test func plainAndCompressedResponsesTakeTurns() async throws {
        let answer = Self.answer(Self.compressed(Self.text))
        try await withServer(answer: { $0.number % 2 == 0 ? [.send(answer)] : ok("plain") }) { client, server, origin in
            for number in 1...6 {
                #expect(await client.get(origin).value?.text == (number % 2 == 0 ? Self.text : "plain"))
            }
            #expect(server.acceptedCount == 1)
        }
    }

    @Test func aBombIsRefusedByItsRatio() async throws {
        let answer = Self.answer(Self.compressed(String(repeating: "a", count: 3_000_000)))
        let configuration = HTTPClientConfiguration { $0.decompression = .enabled(maximumRatio: 100) }
        try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, _, origin in
            let error = await client.get(origin).failure
            #expect(error?.code == .decompressionFailed)
            #expect(error?.outcome == .answered)
            await until { client.counts == PoolCounts() }
        }
    }

    @Test func aBombIsRefusedByItsSize() async throws {
        let answer = Self.answer(Self.compressed(String(repeating: "a", count: 3_000_000)))
        let configuration = HTTPClientConfiguration { $0.decompression = .enabled(maximumRatio: 2000) }
        try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, _, origin in
            let request = HTTPRequest(origin: origin, target: "/", maximumBodyBytes: 1_000_000)
            let error = await client.send(request).failure
            #expect(error?.code == .responseTooLarge)
        }
    }

    @Test func whatIsNotGzipIsRefused() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            let error = await client.get(origin).failure
            #expect(error?.code == .decompressionFailed)
            #expect(error?.underlying == "incorrect header check")
        }
    }

    @Test func aBodyThatEndsTooEarlyIsRefused() async throws {
        let whole = Self.compressed(Self.text)
        let answer = Self.answer(whole.getSlice(at: 0, length: whole.readableBytes / 2) ?? ByteBuffer())
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            #expect(await client.get(origin).failure?.code == .decompressionFailed)
        }
    }

    @Test func aBodyThatEndsWithTheConnectionIsInflatedToItsEnd() async throws {
        let whole = Self.compressed(Self.text)
        let half = whole.getSlice(at: 0, length: whole.readableBytes / 2) ?? ByteBuffer()
        let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Encoding: x-gzip\r\n\r\n")
        let answer: FaultServer.Answer = { [.send(head), .send($0.target == "/whole" ? whole : half), .close] }
        try await withServer(answer: answer) { client, _, origin in
            #expect(await client.get(origin, "/whole").value?.text == Self.text)
            #expect(await client.get(origin, "/half").failure?.code == .decompressionFailed)
        }
    }

    @Test func canBeSwitchedOff() async throws {
        let body = Self.compressed(Self.text)
        let answer = Self.answer(body)
        let configuration = HTTPClientConfiguration { $0.decompression = .disabled }
        try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, server, origin in
            let response = await client.get(origin).value
            #expect(response?.headers["content-encoding"] == ["gzip"])
            #expect(response?.body == body)
            #expect(server.requests[0].headers["accept-encoding"] == [])
        }
    }

    @Test func aBodyOfNoBytesIsEmpty() async throws {
        let answer = Self.answer(ByteBuffer())
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            #expect(await client.get(origin).value?.body.readableBytes == 0)
        }
    }

    @Test func aResponseWithoutABodyIsNotInflated() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n"
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            let response = await client.send(HTTPRequest(method: .HEAD, origin: origin, target: "/")).value
            #expect(response?.body.readableBytes == 0)
        }
    }
}
#endif
