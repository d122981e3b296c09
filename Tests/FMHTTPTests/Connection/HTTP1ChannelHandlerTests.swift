import CustomDump
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import FMHTTP

/// The handler on a channel without a socket, where reads and writes can be counted and the test moves the time.
struct HTTP1ChannelHandlerTests {
    @Test func headAndSmallBodyAreOneWrite() throws {
        let bench = try Bench()
        bench.run(HTTPRequest(method: .POST, origin: Bench.origin, target: "/", body: .bytes(ByteBuffer(string: "{}"))))
        let written = try #require(try bench.channel.readOutbound(as: ByteBuffer.self))
        expectNoDifference(
            String(buffer: written),
            "POST / HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 2\r\n\r\n{}"
        )
        #expect(try bench.channel.readOutbound(as: ByteBuffer.self) == nil)
    }

    @Test func readsFollowDemand() throws {
        let bench = try Bench()
        bench.run()
        #expect(bench.reads.count == 0, "the read of the idle connection is still under way")
        bench.sink.wantsMoreBox.withLockedValue { $0 = false }
        bench.receive("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na")
        #expect(bench.reads.count == 0)
        bench.exchange?.resumeReading()
        #expect(bench.reads.count == 1)
        bench.exchange?.resumeReading()
        #expect(bench.reads.count == 1, "one read at a time")
        bench.receive("b")
        #expect(bench.reads.count == 1)
        bench.sink.wantsMoreBox.withLockedValue { $0 = true }
        bench.exchange?.resumeReading()
        bench.receive("c")
        #expect(bench.reads.count == 3, "an idle connection is read again")
        expectNoDifference(bench.sink.events, ["head 200", "body a", "body b", "body c", "finished"])
    }

    #if Compression
    @Test func readsFollowDemandWhenABodyIsCompressed() throws {
        let bench = try Bench(maximumInflationRatio: 500)
        bench.run()
        bench.sink.wantsMoreBox.withLockedValue { $0 = false }
        let body = CompressedFormat.gzip.compressed(ByteBuffer(string: "abc"))
        let length = "Content-Length: \(body.readableBytes)"
        var answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\(length)\r\n\r\n")
        answer.writeImmutableBuffer(body)
        // All but the last byte, which belongs to the length after the data.
        let allButTheLast = answer.readSlice(length: answer.readableBytes - 1)
        bench.receive(try #require(allButTheLast))
        #expect(bench.reads.count == 0)
        expectNoDifference(bench.sink.events, ["head 200", "body abc"])
        bench.exchange?.resumeReading()
        #expect(bench.reads.count == 1)
        bench.receive(answer)
        expectNoDifference(bench.sink.events, ["head 200", "body abc", "finished"])
    }

    @Test func nothingIsInflatedBehindTheChunkThatIsTooMuch() throws {
        let bench = try Bench(maximumInflationRatio: 2000)
        bench.limits.maximumBodyBytes = 100_000
        bench.run()
        bench.receive("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        bench.receive(CompressedFormat.gzip.compressed(ByteBuffer(repeating: 0x20, count: 1_000_000)))
        let bodies = bench.sink.events.filter { $0.hasPrefix("body ") }
        let count = bodies.reduce(0) { $0 + $1.utf8.count - "body ".utf8.count }
        #expect((50_000...100_000).contains(count))
        #expect(bench.sink.events.count == 1 + bodies.count + 1)
        #expect(bench.sink.events.last == "failed responseTooLarge answered")
    }
    #endif

    @Test func aHeadIsReadWhateverTheDemand() throws {
        let bench = try Bench()
        bench.run()
        bench.sink.wantsMoreBox.withLockedValue { $0 = false }
        for (number, byte) in "HTTP/1.1 ".enumerated() {
            bench.receive(String(byte))
            #expect(bench.reads.count == number + 1)
        }
    }

    @Test func firstByteTimeoutInVirtualTime() throws {
        let bench = try Bench()
        bench.run()
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(60) - .nanoseconds(1))
        expectNoDifference(bench.sink.events, [])
        bench.channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        expectNoDifference(bench.sink.events, ["failed firstByteTimeout unknown"])
        #expect(!bench.channel.isActive)
    }

    @Test func idleTimeoutInVirtualTime() throws {
        let bench = try Bench()
        bench.run()
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        bench.receive("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        for _ in 0..<5 {
            bench.channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            bench.receive("x")
        }
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(bench.sink.events.last == "failed idleTimeout answered")
    }

    /// One byte every 100 ms cannot keep a request open for ever.
    @Test func aBodyThatDripsInVirtualTime() throws {
        let bench = try Bench()
        bench.limits.minimumRate = 10_000
        bench.limits.maximumBodyBytes = .max
        bench.run()
        bench.receive("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        var count = 0
        while bench.channel.isActive, count < 10_000 {
            bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
            bench.receive("x")
            count += 1
        }
        #expect(bench.sink.events.last == "failed tooSlow answered")
        // Twice the allowed silence of 10 s, and the 20 ms for 200 bytes.
        expectNoDifference(count, 201)
    }

    @Test func aPauseHasNoLimit() throws {
        let bench = try Bench()
        bench.run()
        bench.sink.wantsMoreBox.withLockedValue { $0 = false }
        bench.receive("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        bench.channel.embeddedEventLoop.advanceTime(by: .hours(1))
        expectNoDifference(bench.sink.events, ["head 200"])
    }

    @Test func cancellingClosesAndSaysNothing() throws {
        let bench = try Bench()
        bench.run()
        bench.exchange?.cancel()
        #expect(!bench.channel.isActive)
        expectNoDifference(bench.sink.events, [])
    }

    @Test func aRequestCancelledOnItsWayIsNotWritten() throws {
        let bench = try Bench()
        bench.prepare()
        bench.exchange?.cancel()
        bench.start()
        #expect(try bench.channel.readOutbound(as: ByteBuffer.self) == nil)
        #expect(bench.channel.isActive)
    }

    @Test func bytesForNobodyCloseTheConnection() throws {
        let bench = try Bench()
        bench.receive("HTTP/1.1 200 OK\r\n\r\n")
        #expect(!bench.channel.isActive)
    }

    @Test func anErrorOfTheChannelIsTold() throws {
        let bench = try Bench()
        bench.run()
        bench.channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        expectNoDifference(bench.sink.events, ["failed connectionClosed unknown"])
    }

    @Test func aBodyWithoutLengthIsCompleteOnlyAtACleanEnd() throws {
        var bench = try Bench()
        bench.run()
        bench.receive("HTTP/1.1 200 OK\r\n\r\nabc")
        bench.channel.pipeline.fireChannelInactive()
        #expect(bench.sink.events.last == "finished")

        bench = try Bench()
        bench.run()
        bench.receive("HTTP/1.1 200 OK\r\n\r\nabc")
        bench.channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        #expect(bench.sink.events.last == "failed truncatedBody answered")
    }
}

/// A handler with all its surroundings, and no network.
private final class Bench {
    static let origin = Origin(scheme: .http, host: "localhost", port: 1)

    let channel = EmbeddedChannel()
    let reads = ReadCounter()
    let sink = RecordingSink()
    var limits = ExchangeLimits(firstByte: .seconds(60), idle: .seconds(10), deadline: nil, maximumBodyBytes: 100)
    private(set) var exchange: Exchange?
    private let pool: ConnectionPool
    private let connection: HTTP1Connection

    init(maximumInflationRatio: Int? = nil) throws {
        // A pool that may not connect: requests wait in it until the test runs them.
        pool = ConnectionPool(
            origin: Self.origin,
            settings: .init(maximumConnections: 0),
            factory: ConnectionFactory(HTTPClientConfiguration()),
            runtime: Runtime(eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
        )
        let id = ConnectionID(number: 1)
        let limits = ResponseParser.Limits(maximumHeadBytes: 1000, maximumHeaderCount: 10)
        let handler = HTTP1ChannelHandler(
            id: id,
            pool: pool,
            limits: limits,
            maximumInflationRatio: maximumInflationRatio
        )
        connection = HTTP1Connection(id: id, eventLoop: channel.embeddedEventLoop, handler: handler)
        try channel.pipeline.syncOperations.addHandlers(reads, handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    deinit { _ = try? channel.finish() }

    func run(_ request: HTTPRequest = HTTPRequest(origin: Bench.origin, target: "/")) {
        prepare(request)
        start()
    }

    func prepare(_ request: HTTPRequest = HTTPRequest(origin: Bench.origin, target: "/")) {
        // The requests of these tests are valid, so this never returns.
        guard let framing = try? RequestFraming(request, asksForCompression: false) else { return }
        let exchange = Exchange(
            id: RequestID(number: 1),
            request: request,
            framing: framing,
            limits: limits,
            queueDeadline: nil,
            pool: pool,
            log: nil,
            sink: sink
        )
        exchange.start()
        self.exchange = exchange
    }

    func start() {
        if let exchange { connection.run(exchange) }
    }

    func receive(_ text: String) { receive(ByteBuffer(string: text)) }

    func receive(_ bytes: ByteBuffer) {
        channel.pipeline.fireChannelRead(bytes)
        channel.pipeline.fireChannelReadComplete()
    }
}

private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

private final class RecordingSink: ResponseSink {
    private let box = NIOLockedValueBox<[String]>([])
    let wantsMoreBox = NIOLockedValueBox(true)

    var events: [String] { box.withLockedValue { $0 } }
    private func record(_ event: String) { box.withLockedValue { $0.append(event) } }

    var wantsMore: Bool { wantsMoreBox.withLockedValue { $0 } }
    func willReceive(on eventLoop: any EventLoop) {}
    func received(_ part: HTTPResponsePart) {
        switch part {
        case .head(let head): record("head \(head.status.code)")
        case .body(let bytes): record("body \(String(buffer: bytes))")
        }
    }
    func readCompleted() {}
    func finished() { record("finished") }
    func failed(_ error: HTTPClientError) { record("failed \(error.code) \(error.outcome)") }
}
