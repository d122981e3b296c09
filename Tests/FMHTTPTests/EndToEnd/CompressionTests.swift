#if Compression
import FMHTTP
import FMTestSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression
import OpenCombine
import Testing

@Suite(.timeLimit(.minutes(15)))
struct CompressionTests {
    private static let text = (0..<500).map { "{\"recordId\": \"\($0)\"}" }.joined(separator: ",")

    /// What a server with NIO's compressor sends, head and chunks included.
    private static func compressed(_ text: String, _ coding: String = "gzip") throws -> ByteBuffer {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
        try channel.pipeline.syncOperations.addHandler(HTTPResponseCompressor())
        try channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: \(coding)\r\n\r\n"))
        try channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
        try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: text))))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        var bytes = ByteBuffer()
        while let part = try channel.readOutbound(as: ByteBuffer.self) { bytes.writeImmutableBuffer(part) }
        _ = try? channel.finish()
        return bytes
    }

    @Test(arguments: ["gzip", "deflate"])
    func asksAndInflates(coding: String) async throws {
        let answer = try Self.compressed(Self.text, coding)
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
        let answer = try Self.compressed(Self.text)
        try await withServer(answer: { _ in [.sendByteByByte(answer)] }) { client, _, origin in
            #expect(await client.get(origin).value?.text == Self.text)
        }
    }

    @Test func inflatesUnderDemand() async throws {
        let answer = try Self.compressed(String(repeating: Self.text, count: 50))
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
        let answer = try Self.compressed(Self.text)
        try await withServer(answer: { $0.number % 2 == 0 ? [.send(answer)] : ok("plain") }) { client, server, origin in
            for number in 1...6 {
                #expect(await client.get(origin).value?.text == (number % 2 == 0 ? Self.text : "plain"))
            }
            #expect(server.acceptedCount == 1)
        }
    }

    @Test func aBombIsRefusedByItsRatio() async throws {
        let answer = try Self.compressed(String(repeating: "a", count: 3_000_000))
        let configuration = HTTPClientConfiguration(decompression: .enabled(maximumRatio: 100))
        try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, _, origin in
            let error = await client.get(origin).failure
            #expect(error?.code == .decompressionFailed)
            #expect(error?.outcome == .answered)
            await until { client.counts == PoolCounts() }
        }
    }

    @Test func aBombIsRefusedByItsSize() async throws {
        let answer = try Self.compressed(String(repeating: "a", count: 3_000_000))
        let configuration = HTTPClientConfiguration(decompression: .enabled(maximumRatio: 2000))
        try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, _, origin in
            let request = HTTPRequest(origin: origin, target: "/", maximumBodyBytes: 1_000_000)
            let error = await client.send(request).failure
            #expect(error?.code == .responseTooLarge)
        }
    }

    @Test func whatIsNotGzipIsRefused() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            #expect(await client.get(origin).failure?.code == .decompressionFailed)
        }
    }

    @Test func aBodyThatEndsTooEarlyIsRefused() async throws {
        let answer = try Self.truncated(Self.compressed(Self.text))
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            #expect(await client.get(origin).failure?.code == .decompressionFailed)
        }
    }

    @Test func aBodyThatEndsWithTheConnectionIsInflatedToItsEnd() async throws {
        let whole = try Self.encodedBody(Self.compressed(Self.text))
        let half = whole.getSlice(at: 0, length: whole.readableBytes / 2) ?? ByteBuffer()
        let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Encoding: x-gzip\r\n\r\n")
        let answer: FaultServer.Answer = { [.send(head), .send($0.target == "/whole" ? whole : half), .close] }
        try await withServer(answer: answer) { client, _, origin in
            #expect(await client.get(origin, "/whole").value?.text == Self.text)
            #expect(await client.get(origin, "/half").failure?.code == .decompressionFailed)
        }
    }

    /// The first half of the compressed body, as correct HTTP.
    private static func truncated(_ response: ByteBuffer) throws -> ByteBuffer {
        let body = try encodedBody(response)
        let half = body.readableBytes / 2
        var answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(half)\r\n\r\n")
        answer.writeImmutableBuffer(body.getSlice(at: 0, length: half) ?? ByteBuffer())
        return answer
    }

    /// The body without its chunks, still compressed.
    private static func encodedBody(_ response: ByteBuffer) throws -> ByteBuffer {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHTTPClientHandlers()
        try channel.writeOutbound(
            HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"))
        )
        try channel.writeInbound(response)
        var body = ByteBuffer()
        while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
            if case .body(let bytes) = part { body.writeImmutableBuffer(bytes) }
        }
        _ = try? channel.finish()
        return body
    }

    @Test func canBeSwitchedOff() async throws {
        let answer = try Self.compressed(Self.text)
        let body = try Self.encodedBody(answer)
        let configuration = HTTPClientConfiguration(decompression: .disabled)
        try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, server, origin in
            let response = await client.get(origin).value
            #expect(response?.headers["content-encoding"] == ["gzip"])
            #expect(response?.body == body)
            #expect(server.requests[0].headers["accept-encoding"] == [])
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
