import CustomDump
import FMTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct ServerTests {
    private func client(_ sandbox: Sandbox) async throws -> RawHTTPClient {
        try await RawHTTPClient.connect(host: sandbox.host, port: sandbox.port)
    }

    @Test func itSaysWhereItIs() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        #expect(sandbox.scheme == "http")
        #expect(sandbox.authority == "127.0.0.1:\(sandbox.port)")
        #expect(sandbox.url == "http://127.0.0.1:\(sandbox.port)")
        await sandbox.stop()
        await sandbox.stop()
        sandbox.stopAndWait()
        // Another test may have got the port meanwhile; nothing of this sandbox listens there.
        if let other = try? await client(sandbox) { try await other.close() }
        #expect(sandbox.counters.connections == 0)
    }

    @Test func aTakenPortIsAnError() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        let configuration = Sandbox.Configuration {
            $0.port = sandbox.port
            $0.keepAlive = .seconds(3600)
        }
        await #expect(throws: (any Error).self) { try await Sandbox.start(configuration: configuration) }
        await sandbox.stop()
    }

    /// The buffer moves when it grows, and not for each part: an upload takes time in proportion to its length.
    @Test func aBodyIsNotCopiedForEachPart() async throws {
        let engine = try Engine([], configuration: .patient)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let moves = try await channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let handler = HTTPHandler(
                responder: Responder(engine: engine),
                tasks: RunningTasks(),
                scheme: "http",
                authority: "localhost"
            )
            try pipeline.addHandler(handler, position: .first)
            func receive(_ part: HTTPServerRequestPart) { pipeline.fireChannelRead(NIOAny(part)) }
            receive(.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/", headers: ["Host": "localhost"])))
            var places: [UnsafeRawPointer?] = []
            for _ in 0..<1000 {
                receive(.body(ByteBuffer(repeating: 1, count: 4096)))
                let place = handler.body.withUnsafeReadableBytes { $0.baseAddress }
                if places.last != place { places.append(place) }
            }
            #expect(handler.body.readableBytes == 4_096_000)
            return places.count
        }
        .get()
        #expect(moves <= 22, "the buffer has moved \(moves) times")
        try await channel.close()
    }

    @Test func idleConnectionsAreClosed() async throws {
        let sandbox = try await Sandbox.start(configuration: .init { $0.keepAlive = .milliseconds(20) })
        let client = try await client(sandbox)
        try await client.closed()
        #expect(sandbox.counters.connections == 1)
        await sandbox.stop()
    }

    @Test func aConnectionServesSoManyRequests() async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.requestsPerConnection = 2
            }
        )
        let client = try await client(sandbox)
        let first = try await client.send("GET", "/fmi/data/v1/productInfo")
        #expect(first["keep-alive"] == "timeout=3600, max=1")
        let second = try await client.send("GET", "/fmi/data/v1/productInfo")
        #expect(second["connection"] == "close")
        try await client.closed()
        await sandbox.stop()
    }

    @Test func closeIsHonoured() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        let client = try await client(sandbox)
        let answer = try await client.send("GET", "/fmi/data/v1/productInfo", headers: [("Connection", "close")])
        #expect(answer.status == 200)
        #expect(answer["connection"] == "close")
        try await client.closed()
        await sandbox.stop()
    }

    @Test func largeBodiesAreRefused() async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.maximumBodyBytes = 1000
            }
        )
        let client = try await client(sandbox)
        let answer = try await client.send(
            "POST",
            "/fmi/data/v1/databases/World/sessions",
            body: Array(repeating: 0x20, count: 1001)
        )
        #expect(answer.status == 413)
        #expect(answer["content-type"] == "application/json; charset=utf-8")
        expectNoDifference(
            try JSONParser.parse(answer.body),
            ["messages": [["code": "1708", "message": "Request entity too large"]], "response": [:]]
        )
        try await client.closed()
        await sandbox.stop()
    }

    /// RFC 9112, section 3.2.
    @Test(arguments: [("", "1705"), ("Host: a\r\nHost: a\r\n", "1708")])
    func aRequestNamesItsHostOnce(_ hosts: String, _ code: String) async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        for body in ["\r\n", "Content-Length: 2\r\n\r\n{}"] {
            let request = "GET /fmi/data/v1/productInfo HTTP/1.1\r\n\(hosts)\(body)"
            let answer = String(
                decoding: try await RawSocket.exchange(port: sandbox.port, Array(request.utf8)),
                as: UTF8.self
            )
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(answer.contains(#""code":"\#(code)""#))
        }
        // An HTTP/1.0 client need not name the host.
        let old = Array("GET /fmi/data/v1/productInfo HTTP/1.0\r\n\r\n".utf8)
        let answer = try await RawSocket.exchange(port: sandbox.port, old)
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
        await sandbox.stop()
    }

    @Test func aHeadRequestGetsNoBody() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        let client = try await client(sandbox)
        let head = try await client.send("HEAD", "/fmi/data/v1/productInfo")
        #expect(head.status == 405)
        #expect(head.body.isEmpty)
        #expect(try await client.send("GET", "/fmi/data/v1/productInfo").status == 200)
        #expect(try await client.send("OPTIONS", "/fmi/data/v1/productInfo").status == 405)
        await sandbox.stop()
    }

    @Test func stoppingInterruptsWhatWaits() async throws {
        let clock = ManualClock()
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.latency = .seconds(60)
                $0.keepAlive = .seconds(3600)
                $0.clock = clock
            }
        )
        let client = try await client(sandbox)
        let answer = Task { try await client.send("GET", "/fmi/data/v1/productInfo") }
        await clock.untilWaiting()
        await sandbox.stop()
        await #expect(throws: (any Error).self) { try await answer.value }
        #expect(clock.waitingCount == 0)
    }

    @Test func latencyHoldsAnswersBackOnTheClock() async throws {
        let clock = ManualClock()
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.latency = .seconds(2)
                $0.keepAlive = .seconds(3600)
                $0.clock = clock
            }
        )
        let client = try await client(sandbox)
        async let answer = client.send("GET", "/fmi/data/v1/productInfo")
        await clock.untilWaiting()
        clock.advance(by: .seconds(2))
        #expect(try await answer.status == 200)
        await sandbox.stop()
    }

    @Test func loggedPathsHideTokens() {
        #expect(
            "\(LoggedPath("/fmi/data/v1/databases/World/sessions/abc123"))" == "/fmi/data/v1/databases/World/sessions/…"
        )
        #expect("\(LoggedPath("/Streaming_SSL/MainDB/ABC.jpg"))" == "/Streaming_SSL/MainDB/…")
        #expect("\(LoggedPath("/fmi/data/v1/databases/World/layouts"))" == "/fmi/data/v1/databases/World/layouts")
    }

    @Test func certificatesNeedTheAuthority() async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.tls = true
                $0.keepAlive = .seconds(3600)
            }
        )
        #expect(sandbox.url.hasPrefix("https://"))
        let trusting = try await RawHTTPClient.connect(
            host: "127.0.0.1",
            port: sandbox.port,
            certificateAuthority: Sandbox.certificateAuthorityFile
        )
        #expect(try await trusting.send("GET", "/fmi/data/v1/productInfo").status == 200)
        await sandbox.stop()
    }

    /// The announced length is enough to refuse a body, so clients need not send it.
    @Test func aBodyThatIsAnnouncedTooLargeIsRefusedUnread() async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.maximumBodyBytes = 1000
            }
        )
        let head = """
            POST /fmi/data/v1/databases/World/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\
            Expect: 100-continue\r\n\r\n
            """
        let answer = try await RawSocket.exchange(port: sandbox.port, Array(head.utf8), until: { $0.count > 12 })
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 413 "))
        // A body without a length is refused when it becomes too large.
        let chunked = """
            POST /fmi/data/v1/databases/World/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n\
            800\r\n\(String(repeating: "x", count: 0x800))\r\n
            """
        let second = try await RawSocket.exchange(port: sandbox.port, Array(chunked.utf8), until: { $0.count > 12 })
        #expect(String(decoding: second, as: UTF8.self).hasPrefix("HTTP/1.1 413 "))
        await sandbox.stop()
    }

    @Test(arguments: ["GET /fmi", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n{", ""])
    func aRequestThatStopsComingIsGivenUp(_ start: String) async throws {
        let sandbox = try await Sandbox.start(configuration: .init { $0.keepAlive = .milliseconds(20) })
        let answer = try await RawSocket.exchange(port: sandbox.port, Array(start.utf8))
        #expect(answer.isEmpty)
        await sandbox.stop()
    }

    @Test func everyAnswerCarriesTheHeadersOfARealOne() async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.clock = ManualClock()
            }
        )
        let client = try await client(sandbox)
        let info = try await client.send("GET", "/fmi/data/v1/productInfo")
        let list = try await client.send("GET", "/fmi/data/v1/databases")
        for (name, value) in [
            ("content-type", "application/json; charset=utf-8"), ("vary", "Accept-Encoding"),
            ("x-frame-options", "SAMEORIGIN"), ("x-xss-protection", "1; mode=block"),
            ("x-content-type-options", "nosniff"), ("access-control-allow-origin", sandbox.authority),
            ("access-control-allow-headers", "Content-Type, Authorization"),
            ("access-control-allow-credentials", "true"), ("connection", "Keep-Alive"), ("server", "Apache"),
            ("date", "Wed, 15 Jan 2025 12:00:00 GMT"),
        ] {
            #expect(info[name] == value)
            #expect(list[name] == value)
        }
        #expect(list["cache-control"] == "no-cache")
        #expect(list["etag"]?.hasPrefix("W/\"") == true)
        #expect(info["cache-control"] == nil)
        #expect(info["etag"] == nil)
        await sandbox.stop()
    }

    #if Compression
    @Test(
        arguments: [
            ("gzip", "gzip"), ("deflate, gzip", "gzip"), ("br, gzip;q=0.5", "gzip"), ("GZIP ; q=1", "gzip"),
            ("gzip;q=0", nil), ("identity", nil), ("deflate", "deflate"), ("*", "gzip"),
        ]
    )
    func gzipIsChosenWhereItIsWelcome(_ accepted: String, _ coding: String?) async throws {
        try await withBench(.http) { (bench: Bench) async throws in
            let headers = [("Authorization", "Bearer \(try #require(bench.token))"), ("Accept-Encoding", accepted)]
            let answer = try await bench.send("GET", bench.path("layouts/Contacts/records"), headers: headers)
            #expect(answer.header("content-encoding") == coding)
        }
    }
    #endif

    @Test func anAbsoluteTargetIsTaken() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        let client = try await client(sandbox)
        #expect(try await client.send("GET", "\(sandbox.url)/fmi/data/v1/productInfo").status == 200)
        #expect(try await client.send("GET", "\(sandbox.url)").status == 404)
        #expect(try await client.send("OPTIONS", "*").status == 404)
        await sandbox.stop()
    }

    @Test func loggedPathsHideTokensHoweverTheyAreWritten() {
        let path = "\(LoggedPath("/fmi/data/v1/databases/World/session%73/abc123"))"
        #expect(path == "/fmi/data/v1/databases/World/sessions/…")
    }

    /// A fault may be injected with any status; an invalid one does not break the connection.
    @Test(arguments: [-1, 0, 100, 600, 99_999]) func aStatusThatIsNoneIs500(_ status: Int) async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        sandbox.inject(.empty(status: status))
        let client = try await client(sandbox)
        #expect(try await client.send("GET", "/fmi/data/v1/productInfo").status == 500)
        await sandbox.stop()
    }

    #if Compression
    @Test(.tags(.contract), arguments: [Venue.http, .https])
    func largeBodiesAreCompressedForThoseWhoTakeGzip(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let headers = [
                ("Authorization", "Bearer \(try #require(bench.token))"), ("Accept-Encoding", "deflate, gzip, br"),
            ]
            let large = try await bench.send("GET", bench.path("layouts/Contacts/records"), headers: headers)
            #expect(large.header("content-encoding") == "gzip")
            let inflated = CompressedFormat.gzip.inflated(ByteBuffer(bytes: large.body))
            #expect(inflated.isWhole)
            #expect(large.header("transfer-encoding") == "chunked")
            #expect(large.header("content-length") == nil)
            #expect(large.header("etag")?.hasPrefix("W/\"") == true)
            let small = try await bench.send("GET", bench.path("/databases"), headers: headers)
            #expect(small.header("content-encoding") == nil)
            #expect(small.header("content-length") == String(small.body.count))
            #expect(small.header("keep-alive") == "timeout=3600, max=100")
            let plain = try await bench.get("layouts/Contacts/records")
            #expect(plain.header("content-encoding") == nil)
            #expect(plain.code == "0")
            #expect(Array(inflated.bytes.readableBytesView) == plain.body)
        }
    }
    #endif
}
