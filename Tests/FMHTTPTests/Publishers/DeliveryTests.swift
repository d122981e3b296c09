import Dispatch
import FMHTTP
import FMTestSupport
import NIOCore
import NIOPosix
import OpenCombine
import Testing

/// The rules that every subscription follows, with both kinds of delivery.
@Suite(.timeLimit(.minutes(15)))
struct DeliveryTests {
    private typealias Parts = TrackingSubscriber<HTTPResponsePart, HTTPClientError>

    static let deliveries = [HTTPClientConfiguration.Delivery.background, .eventLoop]

    @Test(arguments: deliveries)
    func theOrderIsHeadBodyEnd(delivery: HTTPClientConfiguration.Delivery) async throws {
        let configuration = HTTPClientConfiguration { $0.delivery = delivery }
        try await withServer(configuration: configuration, answer: { _ in ok("abc") }) { client, _, origin in
            let subscriber = Parts()
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await subscriber.completion()
            let kinds = subscriber.history.map { event in
                switch event {
                case .subscription: "subscription"
                case .value(.head): "head"
                case .value(.body): "body"
                case .completion(.finished): "finished"
                case .completion(.failure): "failure"
                }
            }
            #expect(kinds == ["subscription", "head", "body", "finished"])
        }
    }

    @Test(arguments: deliveries)
    func nothingIsSentBeforeDemand(delivery: HTTPClientConfiguration.Delivery) async throws {
        let configuration = HTTPClientConfiguration { $0.delivery = delivery }
        try await withServer(configuration: configuration, answer: { _ in ok("x") }) { client, server, origin in
            let subscriber = Parts(initialDemand: .none)
            client.parts(HTTPRequest(origin: origin, target: "/late")).subscribe(subscriber)
            // Another request completes meanwhile.
            #expect(await client.get(origin, "/other").value?.text == "x")
            #expect(server.requests.map(\.target) == ["/other"])
            subscriber.request(.unlimited)
            await subscriber.completion()
            #expect(server.requests.map(\.target) == ["/other", "/late"])
        }
    }

    @Test(arguments: deliveries)
    func eachSubscriptionIsARequest(delivery: HTTPClientConfiguration.Delivery) async throws {
        let configuration = HTTPClientConfiguration { $0.delivery = delivery }
        try await withServer(configuration: configuration, answer: { _ in ok("x") }) { client, server, origin in
            let publisher = client.parts(HTTPRequest(origin: origin, target: "/"))
            #expect(server.requests.isEmpty)
            for count in 1...3 {
                _ = await publisher.outcome()
                #expect(server.requests.count == count)
            }
        }
    }

    @Test(arguments: deliveries)
    func moreDemandIsNotAnotherRequest(delivery: HTTPClientConfiguration.Delivery) async throws {
        let configuration = HTTPClientConfiguration { $0.delivery = delivery }
        try await withServer(configuration: configuration, answer: { _ in ok("x") }) { client, server, origin in
            let subscriber = Parts(initialDemand: .max(1))
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            for _ in 0..<10 { subscriber.request(.max(3)) }
            await subscriber.completion()
            #expect(subscriber.values.count == 2)
            #expect(server.requests.count == 1)
        }
    }

    /// A value that is being delivered while another thread cancels is the last event.
    @Test func oneValueAtMostArrivesWhileItIsCancelled() async throws {
        let body = String(repeating: "x", count: 1000)
        try await withServer(answer: { _ in ok(body) }) { client, server, origin in
            let (arriving, cancelled) = (Gate(), Gate())
            let subscriber = Parts(onEvent: { event in
                guard case .value = event else { return }
                arriving.open()
                cancelled.blockThread()
            })
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await arriving.wait()
            subscriber.cancel()
            cancelled.open()
            _ = await client.get(origin, "/another")
            #expect(subscriber.values.count == 1)
            #expect(subscriber.completionIfAny == nil)
        }
    }

    @Test(arguments: deliveries)
    func theSubscriberIsReleased(delivery: HTTPClientConfiguration.Delivery) async throws {
        let configuration = HTTPClientConfiguration { $0.delivery = delivery }
        try await withServer(
            configuration: configuration,
            answer: { $0.target == "/hang" ? [] : ok("x") }
        ) { client, server, origin in
            weak var finished: Parts?
            weak var cancelled: Parts?
            do {
                let subscriber = Parts()
                finished = subscriber
                client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
                await subscriber.completion()
            }
            await until { finished == nil }
            do {
                let subscriber = Parts()
                cancelled = subscriber
                client.parts(HTTPRequest(origin: origin, target: "/hang")).subscribe(subscriber)
                await server.requestCount(atLeast: 2)
                subscriber.cancel()
            }
            await until { cancelled == nil }
        }
    }

    @Test func backgroundIsNoEventLoop() async throws {
        try await withServer(answer: { _ in ok("x") }) { client, _, origin in
            let onLoop = Locked<[Bool]>([])
            let subscriber = Parts(onEvent: { event in
                if case .subscription = event { return }
                onLoop.change { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
            })
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await until { onLoop.value.count == 3 }
            #expect(onLoop.value == [false, false, false])
        }
    }

    @Test func eventLoopIsAnEventLoop() async throws {
        let configuration = HTTPClientConfiguration { $0.delivery = .eventLoop }
        try await withServer(configuration: configuration, answer: { _ in ok("x") }) { client, _, origin in
            let onLoop = Locked<[Bool]>([])
            let subscriber = Parts(onEvent: { event in
                if case .subscription = event { return }
                onLoop.change { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
            })
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await until { onLoop.value.count == 3 }
            #expect(onLoop.value == [true, true, true])
            // Errors that need no connection arrive there too.
            let failing = Parts(onEvent: { event in
                if case .completion = event {
                    onLoop.change { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
                }
            })
            client.parts(HTTPRequest(origin: origin, target: "bad")).subscribe(failing)
            await until { onLoop.value.count == 4 }
            #expect(onLoop.value.last == true)
        }
    }

    @Test func subscribersThatBlockStallNobody() async throws {
        // More of them than the machine has cores, or a pool of threads would have threads.
        let blocked = 24
        let configuration = HTTPClientConfiguration { $0.maximumConnectionsPerOrigin = 64 }
        try await withServer(configuration: configuration, answer: { _ in ok("x") }) { client, _, origin in
            let gate = Gate()
            let subscribers = (0..<blocked).map { _ in
                Parts(onEvent: { event in if case .value = event { gate.blockThread() } })
            }
            for subscriber in subscribers {
                client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            }
            for subscriber in subscribers { await subscriber.valueCount(atLeast: 1) }
            for _ in 0..<10 { #expect(await client.get(origin).value?.text == "x") }
            gate.open()
            for subscriber in subscribers { #expect(await subscriber.completion() == .finished) }
        }
    }

    @Test func valuesOfOneSubscriptionAreSerial() async throws {
        let chunks = (0..<500).map { _ in "1\r\nx\r\n" }.joined()
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n"
        try await withServer(answer: { _ in [.send(answer)] }) { client, _, origin in
            let inside = Locked(0)
            let overlaps = Locked(0)
            let subscriber = Parts(
                initialDemand: .none,
                onEvent: { _ in
                    inside.change { $0 += 1 }
                    if inside.value > 1 { overlaps.change { $0 += 1 } }
                    inside.change { $0 -= 1 }
                }
            )
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            let request: @Sendable () -> Void = { for _ in 0..<200 { subscriber.request(.max(1)) } }
            race(rounds: 1, request, request, request)
            await subscriber.completion()
            #expect(overlaps.value == 0)
            #expect(subscriber.values.count == 501)
        }
    }

    @Test func demandFromWithinAValue() async throws {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n"
        for delivery in Self.deliveries {
            let configuration = HTTPClientConfiguration { $0.delivery = delivery }
            try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, _, origin in
                let requester = SerialRequester()
                let subscriber = Parts(initialDemand: .max(1), onEvent: { if case .value = $0 { requester.request() } })
                requester.set(subscriber)
                client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
                #expect(await subscriber.completion() == .finished)
                #expect(subscriber.values.count == 3)
            }
        }
    }

    @Test func theNextRequestFromWithinTheLastUsesTheSameConnection() async throws {
        for delivery in Self.deliveries {
            let configuration = HTTPClientConfiguration { $0.delivery = delivery }
            try await withServer(configuration: configuration, answer: { _ in ok("x") }) { client, server, origin in
                let chain = (0..<50).map { client.parts(HTTPRequest(origin: origin, target: "/\($0)")).collect() }
                let result = await chain.dropFirst()
                    .reduce(chain[0].eraseToAnyPublisher()) { previous, next in
                        previous.flatMap { _ in next }.eraseToAnyPublisher()
                    }
                    .outcome()
                #expect((try? result.get().count) == 1)
                #expect(server.acceptedCount == 1)
                #expect(server.requests.count == 50)
            }
        }
    }
}

/// Requests one more value from a target that is set later, for a subscriber that does so while it receives one.
private final class SerialRequester: @unchecked Sendable {
    // Sendable because `target` is set once, before the subscription that leads to `request` begins.
    private weak var target: TrackingSubscriber<HTTPResponsePart, HTTPClientError>?

    func set(_ target: TrackingSubscriber<HTTPResponsePart, HTTPClientError>) { self.target = target }
    func request() { target?.request(.max(1)) }
}
