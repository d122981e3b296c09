import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

/// A request is cancelled in every state: nothing arrives afterwards, everything is released, and the connection is
/// kept or closed as required.
@Suite(.timeLimit(.minutes(15)))
struct CancellationTests {
    private typealias Subscriber = TrackingSubscriber<HTTPResponsePart, HTTPClientError>

    @Test func beforeTheFirstDemandNothingIsSent() async throws {
        try await withServer(answer: { _ in ok() }) { client, server, origin in
            let subscriber = Subscriber(initialDemand: .none)
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            subscriber.cancel()
            subscriber.request(.unlimited)
            #expect(client.counts == PoolCounts())
            #expect(server.acceptedCount == 0)
            #expect(subscriber.history.count == 1)
        }
    }

    @Test func whileQueuedItLeavesTheQueue() async throws {
        let configuration = HTTPClientConfiguration { $0.maximumConnectionsPerOrigin = 1 }
        let gate = Gate()
        try await withServer(configuration: configuration, answer: { _ in [.wait(gate)] + ok() }) {
            client,
            server,
            origin in
            let first = Subscriber()
            let second = Subscriber()
            client.parts(HTTPRequest(origin: origin, target: "/1")).subscribe(first)
            await server.requestCount(atLeast: 1)
            client.parts(HTTPRequest(origin: origin, target: "/2")).subscribe(second)
            #expect(client.counts == PoolCounts(leased: 1, waiting: 1))
            second.cancel()
            #expect(client.counts == PoolCounts(leased: 1))
            gate.open()
            await first.completion()
            #expect(second.history.count == 1)
            #expect(server.requests.map(\.target) == ["/1"])
        }
    }

    // For the stages of connecting see `ConnectTests`.

    @Test func whileSendingTheConnectionIsClosedAndTheBodyCancelled() async throws {
        try await withServer(answer: { _ in ok() }) { client, server, origin in
            let cancelled = Gate()
            let source = SendableSubject()
            let body = HTTPBody.stream(length: 1_000_000, isReplayable: false) {
                source.publisher.handleEvents(receiveCancel: { cancelled.open() }).eraseToAnyPublisher()
            }
            let subscriber = Subscriber()
            client.parts(HTTPRequest(method: .PUT, origin: origin, target: "/", body: body)).subscribe(subscriber)
            await server.connectionCount(atLeast: 1)
            await until { client.counts.leased == 1 }
            subscriber.cancel()
            await cancelled.wait()
            await server.allConnectionsClosed()
            await until { client.counts == PoolCounts() }
            #expect(subscriber.history.count == 1)
        }
    }

    /// On the event loop, when the body is requested: before a byte is sent.
    @Test func whileTheBodyIsMadeNothingIsSent() async throws {
        try await withServer(answer: { _ in ok() }) { client, server, origin in
            let canceller = SerialCancellable()
            let cancelled = Gate()
            let subscriber = Subscriber()
            canceller.set(subscriber)
            let body = HTTPBody.stream(length: 3, isReplayable: false) {
                canceller.cancel()
                return Empty(completeImmediately: false).handleEvents(receiveCancel: { cancelled.open() })
                    .eraseToAnyPublisher()
            }
            client.parts(HTTPRequest(method: .PUT, origin: origin, target: "/", body: body)).subscribe(subscriber)
            await cancelled.wait()
            await until { client.counts == PoolCounts() }
            #expect(subscriber.history.count == 1)
            await server.allConnectionsClosed()
            #expect(server.requests.isEmpty)
        }
    }

    @Test func whileWaitingForTheAnswerTheConnectionIsClosed() async throws {
        try await withServer(answer: { _ in [] }) { client, server, origin in
            let subscriber = Subscriber()
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await server.requestCount(atLeast: 1)
            subscriber.cancel()
            await server.allConnectionsClosed()
            await until { client.counts == PoolCounts() }
            #expect(subscriber.history.count == 1)
        }
    }

    @Test func whileReceivingTheConnectionIsClosed() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"
        try await withServer(answer: { _ in [.send(answer)] }) { client, server, origin in
            let subscriber = Subscriber()
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 2)
            subscriber.cancel()
            await server.allConnectionsClosed()
            await until { client.counts == PoolCounts() }
            #expect(subscriber.history.count == 3)
        }
    }

    @Test func fromWithinAValueNothingMoreComes() async throws {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n"
        for delivery in [HTTPClientConfiguration.Delivery.background, .eventLoop] {
            let configuration = HTTPClientConfiguration { $0.delivery = delivery }
            try await withServer(configuration: configuration, answer: { _ in [.send(answer)] }) { client, _, origin in
                let cancellable = SerialCancellable()
                let subscriber = Subscriber(onEvent: { if case .value = $0 { cancellable.cancel() } })
                cancellable.set(subscriber)
                client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
                await subscriber.valueCount(atLeast: 1)
                await until { client.counts.leased == 0 }
                #expect(subscriber.values.count == 1)
                #expect(subscriber.completionIfAny == nil)
            }
        }
    }

    @Test func afterTheEndTheConnectionStays() async throws {
        try await withServer(answer: { _ in ok() }) { client, server, origin in
            let subscriber = Subscriber()
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await subscriber.completion()
            subscriber.cancel()
            #expect(client.counts == PoolCounts(idle: 1))
        }
    }

    @Test func whateverTheMomentNothingIsLeft() async throws {
        try await withServer(answer: { _ in ok("x") }) { client, server, origin in
            for round in 0..<300 {
                let subscriber = Subscriber()
                client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
                for _ in 0..<(round % 50) { await Task.yield() }
                race(rounds: 1, { subscriber.cancel() }, { subscriber.request(.max(1)) })
                let history = subscriber.history.count
                #expect(history <= 4)
            }
            await until { client.counts.leased == 0 && client.counts.connecting == 0 && client.counts.waiting == 0 }
        }
    }
}

/// Cancels a target that is set later, for a subscriber that cancels itself.
final class SerialCancellable: @unchecked Sendable {
    // Sendable because `target` is set once, before the subscription that leads to `cancel` begins.
    private weak var target: (any Cancellable & AnyObject)?

    func set(_ target: some Cancellable & AnyObject) { self.target = target }
    func cancel() { target?.cancel() }
}
