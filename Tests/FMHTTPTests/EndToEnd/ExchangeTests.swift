import CustomDump
import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ExchangeTests {
    @Test func getsAResponse() async throws {
        try await withServer(answer: { _ in ok("hello", headers: "X-A: 1\r\n") }) { client, server, origin in
            let response = try await client.get(origin, "/a/b?c=d").get()
            #expect(response.status == .ok)
            #expect(response.headers["x-a"] == ["1"])
            #expect(response.text == "hello")

            let request = try #require(server.requests.first)
            #expect(request.target == "/a/b?c=d")
            #expect(request.headers["host"] == [origin.description.replacing("http://", with: "")])
            #expect(request.headers["content-length"] == [])
        }
    }

    @Test func sendsABody() async throws {
        try await withServer(answer: { ok(String(buffer: $0.body)) }) { client, server, origin in
            let body = ByteBuffer(string: "{\"a\": 1}")
            let request = HTTPRequest(
                method: .POST,
                origin: origin,
                target: "/",
                headers: ["Content-Type": "application/json"],
                body: .bytes(body)
            )
            #expect(await client.send(request).value?.body == body)
            #expect(server.requests[0].headers["content-length"] == ["8"])
            #expect(server.requests[0].headers["content-type"] == ["application/json"])
        }
    }

    @Test func sendsABodyThatIsLargerThanAnyBuffer() async throws {
        try await withServer(answer: { ok("\($0.body.readableBytes)") }) { client, _, origin in
            let body = ByteBuffer(repeating: 7, count: 3_000_001)
            let request = HTTPRequest(method: .PUT, origin: origin, target: "/", body: .bytes(body))
            #expect(await client.send(request).value?.text == "3000001")
        }
    }

    @Test func reusesAConnection() async throws {
        try await withServer(answer: { _ in ok("x") }) { client, server, origin in
            for _ in 0..<5 { #expect(await client.get(origin).value?.text == "x") }
            #expect(server.acceptedCount == 1)
            #expect(client.counts == PoolCounts(idle: 1))
        }
    }

    @Test func usesNoMoreConnectionsThanAllowed() async throws {
        let configuration = HTTPClientConfiguration { $0.maximumConnectionsPerOrigin = 2 }
        // The first two wait for each other, so that one connection does not serve all requests.
        let gate = Gate()
        try await withServer(configuration: configuration, answer: { [.wait(gate)] + ok($0.target) }) {
            client,
            server,
            origin in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await server.requestCount(atLeast: 2)
                    gate.open()
                }
                for number in 0..<20 {
                    group.addTask {
                        let result = await client.get(origin, "/\(number)")
                        #expect((try? result.get().text) == "/\(number)")
                    }
                }
            }
            #expect(server.requests.count == 20)
            #expect(server.acceptedCount == 2)
        }
    }

    @Test(arguments: [204, 304])
    func knowsResponsesWithoutABody(status: Int) async throws {
        // The length that such a response announces is that of another response (RFC 9110 §8.6).
        let answer = "HTTP/1.1 \(status) X\r\nContent-Length: 10\r\n\r\n"
        try await withServer(answer: { _ in [.send(answer)] }) { client, server, origin in
            for _ in 0..<2 { #expect(await client.get(origin).value?.status.code == UInt(status)) }
            #expect(server.acceptedCount == 1)
        }
    }

    @Test func knowsThatHeadHasNoBody() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            let response = try await client.send(HTTPRequest(method: .HEAD, origin: origin, target: "/")).get()
            #expect(response.body.readableBytes == 0)
            #expect(response.headers["content-length"] == ["10"])
        }
    }

    @Test func ignoresInformationalResponses() async throws {
        let answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"
        try await withServer(answer: { _ in [.send(answer)] + ok("x") }) { client, _, origin in
            #expect(await client.get(origin).value?.text == "x")
        }
    }

    @Test func readsABodyThatEndsWithTheConnection() async throws {
        try await withServer(answer: { _ in [.send("HTTP/1.1 200 OK\r\n\r\nabc"), .close] }) { client, _, origin in
            #expect(await client.get(origin).value?.text == "abc")
        }
    }

    @Test func readsChunksWithExtensionsAndTrailers() async throws {
        let answer =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2 \r\nde\r\n0\r\nX-T: 1\r\n\r\n"
        try await withServer(answer: { _ in [.sendByteByByte(answer)] }) { client, server, origin in
            for _ in 0..<2 { #expect(await client.get(origin).value?.text == "abcde") }
            #expect(server.acceptedCount == 1)
        }
    }

    @Test(arguments: ["Connection: close\r\n", "Keep-Alive: timeout=0\r\n", "Keep-Alive: timeout=5, max=0\r\n"])
    func closesWhenTheServerSaysSo(header: String) async throws {
        try await withServer(answer: { _ in ok("x", headers: header) }) { client, server, origin in
            for _ in 0..<2 { #expect(await client.get(origin).value?.text == "x") }
            #expect(server.acceptedCount == 2)
        }
    }

    @Test func bytesAfterAResponseAreNotTheNextResponse() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        try await withServer(answer: { _ in [.send(answer)] }) { client, server, origin in
            for _ in 0..<2 { #expect(await client.get(origin).value?.text == "x") }
            #expect(server.acceptedCount == 2)
        }
    }

    @Test func anEarlyAnswerIsTakenAndTheConnectionLeft() async throws {
        let options = FaultServer.Options(answersEarly: true)
        let answer = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"
        try await withServer(options, answer: { _ in [.send(answer)] }) { client, server, origin in
            let never = PassthroughSubject<ByteBuffer, any Error>()
            let box = SendableSubject(never)
            let body = HTTPBody.stream(length: 1_000_000, isReplayable: false) { box.publisher }
            let request = HTTPRequest(method: .POST, origin: origin, target: "/", body: body)
            let response = try await client.send(request).get()
            #expect(response.status == .payloadTooLarge)
            #expect(response.text == "no")
            await server.allConnectionsClosed()
            await until { client.counts == PoolCounts() }
        }
    }
}
