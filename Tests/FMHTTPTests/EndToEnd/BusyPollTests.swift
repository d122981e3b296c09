import CustomDump
import FMTestSupport
import NIOCore
import NIOPosix
import NIOSSL
import OpenCombine
import Testing

@testable import FMHTTP

/// One request after the other, each begun where the last one ended: what makes the client's threads poll. The limits are so
/// long that polling ends only with what is polled for, or with the client; so client and server have a loop each that nobody
/// else needs.
@Suite(.timeLimit(.minutes(15)))
struct BusyPollTests {
    private typealias Texts = AnyPublisher<String, HTTPClientError>

    private static let deliveries = [HTTPClientConfiguration.Delivery.background, .eventLoop]

    private func configuration(_ delivery: HTTPClientConfiguration.Delivery) -> HTTPClientConfiguration {
        let authority = TLSOptions(trust: .only([.pem(Array(TestCertificates.authority.utf8))]))
        var configuration = HTTPClientConfiguration(tls: authority, delivery: delivery)
        configuration.maximumBusyPoll = .seconds(3600)
        return configuration
    }

    /// The answers to requests with these numbers, without a change of thread between them.
    private func chain(_ numbers: Range<Int>, _ client: HTTPClient, _ origin: Origin) -> Texts {
        guard let first = numbers.first else { return Empty().eraseToAnyPublisher() }
        return client.response(HTTPRequest(origin: origin, target: "/\(first)", isSafeToRepeat: true))
            .flatMap { response in
                chain(numbers.dropFirst(), client, origin).prepend(response.text)
            }
            .eraseToAnyPublisher()
    }

    private func withPollingClient(
        _ options: FaultServer.Options = .init(),
        delivery: HTTPClientConfiguration.Delivery,
        answer: @escaping FaultServer.Answer,
        _ body: (HTTPClient, FaultServer, Origin) async throws -> Void
    ) async throws {
        try await withTwoLoops { clientLoop, serverLoop in
            var options = options
            options.eventLoopGroup = serverLoop
            let configuration = configuration(delivery)
            try await withServer(
                options,
                configuration: configuration,
                eventLoopGroup: clientLoop,
                answer: answer,
                body
            )
        }
    }

    private func withTwoLoops(
        _ body: (_ client: any EventLoopGroup, _ server: any EventLoopGroup) async throws -> Void
    ) async throws {
        let groups = (0..<2).map { _ in MultiThreadedEventLoopGroup(numberOfThreads: 1) }
        try await body(groups[0], groups[1])
        for group in groups { try await group.shutdownGracefully() }
    }

    @Test(arguments: deliveries, [false, true])
    func aChainOfRequestsGetsEveryAnswer(
        delivery: HTTPClientConfiguration.Delivery,
        isEncrypted: Bool
    ) async throws {
        let options = FaultServer.Options(tls: isEncrypted ? try TestCertificates.serverContext() : nil)
        try await withPollingClient(options, delivery: delivery, answer: { ok($0.target) }) { client, server, origin in
            let answers = try await chain(0..<50, client, origin).outcome().get()
            expectNoDifference(answers, (0..<50).map { "/\($0)" })
            expectNoDifference(server.acceptedCount, 1)
        }
    }

    /// Nobody polls for the one while the other needs the thread, here to be sent at all.
    @Test(arguments: deliveries) func whoFollowsAtOnceIsNotHeldUp(
        delivery: HTTPClientConfiguration.Delivery
    ) async throws {
        let gate = Gate()
        let answer: FaultServer.Answer = { ($0.target == "/first" ? [.wait(gate)] : []) + ok($0.target) }
        try await withPollingClient(delivery: delivery, answer: answer) { client, server, origin in
            _ = try await chain(0..<10, client, origin).outcome().get()
            let pair = client.response(HTTPRequest(origin: origin, target: "/last", isSafeToRepeat: true))
                .flatMap { _ in
                    client.response(HTTPRequest(origin: origin, target: "/first", isSafeToRepeat: true))
                        .zip(client.response(HTTPRequest(origin: origin, target: "/second", isSafeToRepeat: true)))
                }
                .map { [$0.text, $1.text] }
            async let outcome = pair.outcome()
            await server.requestCount(atLeast: 13)
            gate.open()
            let texts = try await outcome.get()
            expectNoDifference(texts, [["/first", "/second"]])
        }
    }

    #if os(Linux)
    /// That there is a poll at all: while it lasts its loop does nothing else.
    @Test func theLoopPollsForTheAnswer() async throws {
        let gate = Gate()
        let answer: FaultServer.Answer = { ($0.target == "/slow" ? [.wait(gate)] : []) + ok($0.target) }
        try await withPollingClient(delivery: .eventLoop, answer: answer) { client, server, origin in
            _ = try await chain(0..<10, client, origin).outcome().get()
            async let slow = client.get(origin, "/slow")
            await server.requestCount(atLeast: 11)
            let other = HTTPClient()
            var isPolling = false
            // The poll may begin a moment after the request was sent; a loop that does not poll runs every task.
            for _ in 0..<5 where !isPolling {
                let hasRun = Locked(false)
                client.eventLoop.execute { hasRun.change { $0 = true } }
                for _ in 0..<100 where !hasRun.value { _ = await other.get(origin) }
                isPolling = !hasRun.value
            }
            #expect(isPolling)
            gate.open()
            #expect(await slow.value?.text == "/slow")
            await other.shutdown()
        }
    }
    #endif

    @Test func bytesAreSeenBeforeTheyAreRead() async throws {
        let gate = Gate()
        try await withTwoLoops { clientLoop, serverLoop in
            var options = FaultServer.Options(onAccept: { _ in [.wait(gate), .send("hello")] })
            options.eventLoopGroup = serverLoop
            let server = try await FaultServer.start(options) { _ in [] }
            let channel = try await ClientBootstrap(group: clientLoop)
                .channelOption(.autoRead, value: false)
                .connect(host: "127.0.0.1", port: server.port).get()
            let (before, after) = try await channel.eventLoop.submit {
                let before = channel.hasReceivedBytes
                gate.open()
                channel.busyPoll(until: .distantFuture)
                return (before, channel.hasReceivedBytes)
            }.get()
            #if os(Linux)
            #expect(!before)
            #endif
            #expect(after)
            try await channel.close()
            await server.allConnectionsClosed()
            try await server.stopped()
        }
    }
}
