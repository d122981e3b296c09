import CustomDump
import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@Suite(.timeLimit(.minutes(15)))
struct FailureTests {
    @Test func plainHTTPIsRefusedBeyondLoopback() async throws {
        let client = HTTPClient(configuration: .patient)
        for host in ["example.com", "10.0.0.1", "127.0.0.1.example.com", "localhost.example.com", "127.1"] {
            let origin = Origin(scheme: .http, host: host)
            let error = try #require(await client.get(origin).failure)
            #expect(error == HTTPClientError(code: .insecureScheme, outcome: .notSent, origin: origin))
        }
    }

    @Test func aRefusedConnectionSaysSo() async throws {
        let closed = try ClosedPort()
        let client = HTTPClient(configuration: .patient)
        let origin = Origin(scheme: .http, host: "127.0.0.1", port: closed.port)
        let error = try #require(await client.get(origin).failure)
        #expect(error.code == .connectionRefused)
        #expect(error.outcome == .notSent)
        await client.shutdown(grace: .zero)
        #expect(client.counts == PoolCounts())
    }

    @Test func anUnknownHostSaysSo() async throws {
        let client = HTTPClient(configuration: .patient)
        // This name is reserved for not existing (RFC 6761 §6.4).
        let error = try #require(await client.get(Origin(scheme: .https, host: "no-such-host.invalid")).failure)
        #expect(error.code == .unknownHost)
        #expect(error.outcome == .notSent)
        await client.shutdown(grace: .zero)
    }

    @Test func aConnectionClosedWithoutAnAnswer() async throws {
        try await withServer(answer: { _ in [.close] }) { client, server, origin in
            let error = try #require(await client.get(origin).failure)
            #expect(error.code == .connectionClosed)
            #expect(error.outcome == .unknown)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aBodyThatIsCutOff() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"
        try await withServer(answer: { _ in [.send(answer), .close] }) { client, _, origin in
            let error = try #require(await client.get(origin).failure)
            #expect(error.code == .truncatedBody)
            #expect(error.outcome == .answered)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + String(repeating: "x", count: 101),
    ])
    func aBodyBeyondTheLimit(answer: String) async throws {
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            let request = HTTPRequest(origin: origin, target: "/", maximumBodyBytes: 100)
            let error = try #require(await client.send(request).failure)
            #expect(error.code == .responseTooLarge)
            #expect(error.outcome == .answered)
        }
    }

    @Test(arguments: [
        "hello\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n",
    ])
    func aResponseThatIsNotHTTP(answer: String) async throws {
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            let error = try #require(await client.get(origin).failure)
            #expect(error.code == .malformedResponse)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 70_000))",
        "HTTP/1.1 200 OK\r\n\(String(repeating: "X: x\r\n", count: 129))\r\n",
    ])
    func aHeadBeyondTheLimit(answer: String) async throws {
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            #expect(await client.get(origin).failure?.code == .headTooLarge)
        }
    }

    @Test func aServerThatSaysNothingInTime() async throws {
        let configuration = HTTPClientConfiguration { $0.timeouts = HTTPTimeouts(firstByte: .milliseconds(20)) }
        try await withServer(configuration: configuration, answer: { _ in [] }) { client, _, origin in
            let error = try #require(await client.get(origin).failure)
            #expect(error.code == .firstByteTimeout)
            #expect(error.outcome == .unknown)
        }
    }

    @Test func aServerThatStopsInTheMiddle() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"
        let configuration = HTTPClientConfiguration { $0.timeouts = HTTPTimeouts(idle: .milliseconds(20)) }
        try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, _, origin in
            let error = try #require(await client.get(origin).failure)
            #expect(error.code == .idleTimeout)
            #expect(error.outcome == .answered)
        }
    }

    /// No system accepts a gigabyte from the network that its program does not read.
    @Test func aServerThatStopsReading() async throws {
        let gate = Gate()
        let options = FaultServer.Options(reads: false, onAccept: { _ in [.wait(gate), .reset] })
        let configuration = HTTPClientConfiguration { $0.timeouts = HTTPTimeouts(idle: .milliseconds(50)) }
        try await withServer(options, configuration: configuration, answer: { _ in [] }) { client, _, origin in
            // One chunk for all: a sequence is mapped as a whole, and would otherwise be a gigabyte.
            let chunk = ByteBuffer(repeating: 0, count: 1 << 20)
            let body = HTTPBody.stream(length: 1 << 30, isReplayable: false) {
                (0..<(1 << 10)).publisher
                    .map { _ in chunk }
                    .setFailureType(to: (any Error).self)
                    .eraseToAnyPublisher()
            }
            let request = HTTPRequest(method: .PUT, origin: origin, target: "/", body: body)
            let error = try #require(await client.send(request).failure)
            #expect(error.code == .idleTimeout)
            #expect(error.outcome == .unknown)
            gate.open()
        }
    }

    /// The client has no limits; the requests have their own.
    @Test(arguments: [
        (
            HTTPTimeouts(queue: nil, connect: nil, firstByte: .milliseconds(20), idle: nil), "",
            HTTPClientError.Code.firstByteTimeout
        ),
        (
            HTTPTimeouts(queue: nil, connect: nil, firstByte: nil, idle: .milliseconds(20)),
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", .idleTimeout
        ),
        (
            HTTPTimeouts(queue: nil, connect: nil, firstByte: nil, idle: nil, total: .milliseconds(20)),
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", .totalTimeout
        ),
    ])
    func aRequestBringsItsOwnLimits(timeouts: HTTPTimeouts, answer: String, code: HTTPClientError.Code) async throws {
        let never = HTTPTimeouts(queue: nil, connect: nil, firstByte: nil, idle: nil)
        let configuration = HTTPClientConfiguration { $0.timeouts = never }
        try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, _, origin in
            let request = HTTPRequest(origin: origin, target: "/", timeouts: timeouts)
            #expect(await client.send(request).failure?.code == code)
        }
    }

    @Test func aRequestThatTakesTooLongAsAWhole() async throws {
        try await withServer(answer: { _ in [] }) { client, _, origin in
            let timeouts = HTTPTimeouts(total: .milliseconds(20))
            let error = try #require(
                await client.send(HTTPRequest(origin: origin, target: "/", timeouts: timeouts)).failure
            )
            #expect(error.code == .totalTimeout)
        }
    }

    @Test func aRequestThatWaitsTooLongForAConnection() async throws {
        let configuration = HTTPClientConfiguration { $0.maximumConnectionsPerOrigin = 1 }
        try await withServer(configuration: configuration, answer: { _ in [] }) { client, server, origin in
            let first = TrackingSubscriber<HTTPResponsePart, HTTPClientError>()
            client.parts(HTTPRequest(origin: origin, target: "/first")).subscribe(first)
            await server.requestCount(atLeast: 1)
            for (timeouts, code, detail) in [
                (HTTPTimeouts(queue: .milliseconds(20)), HTTPClientError.Code.queueTimeout, nil),
                // A request's own limit also applies to waiting for a busy connection.
                (HTTPTimeouts(queue: nil, connect: .milliseconds(20)), .connectTimeout, "all connections were busy"),
            ] {
                let error = try #require(
                    await client.send(HTTPRequest(origin: origin, target: "/second", timeouts: timeouts)).failure
                )
                #expect(error.code == code)
                #expect(error.underlying == detail)
                #expect(error.outcome == .notSent)
            }
            #expect(server.requests.count == 1)
            first.cancel()
        }
    }

    @Test func afterAShutdownNothingIsSent() async throws {
        try await withServer(answer: { _ in ok("x") }) { client, server, origin in
            _ = await client.get(origin)
            await client.shutdown()
            let error = try #require(await client.get(origin).failure)
            #expect(error.code == .shutdown)
            #expect(error.outcome == .notSent)
            #expect(server.requests.count == 1)
        }
    }

    @Test func errorsKeepSecretsToThemselves() async throws {
        try await withServer(answer: { _ in [.close] }) { client, _, origin in
            let request = HTTPRequest(
                origin: origin,
                target: "/path?key=secret-1",
                headers: ["Authorization": "Bearer secret-2"],
                body: .bytes(ByteBuffer(string: "secret-3"))
            )
            let error = try #require(await client.send(request).failure)
            var dumped = ""
            customDump(error, to: &dumped)
            customDump(request, to: &dumped)
            dump(request, to: &dumped)
            dump(error, to: &dumped)
            #expect(!"\(error) \(request) \(dumped)".contains("secret"))
        }
    }
}
