import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ShutdownTests {
    private typealias Subscriber = TrackingSubscriber<HTTPResponsePart, HTTPClientError>

    @Test func whatRunsMayEnd() async throws {
        let gate = Gate()
        try await withServer(answer: { _ in [.wait(gate)] + ok("x") }) { client, server, origin in
            let subscriber = Subscriber()
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await server.requestCount(atLeast: 1)
            let done = TrackingSubscriber<Void, Never>()
            let shutdown: AnyPublisher<Void, Never> = client.shutdown(grace: .seconds(60))
            shutdown.subscribe(done)
            #expect(await client.get(origin).failure?.code == .shutdown)
            #expect(done.completionIfAny == nil)
            gate.open()
            #expect(await subscriber.completion() == .finished)
            await done.completion()
            #expect(done.values.count == 1)
            #expect(client.counts == PoolCounts())
        }
    }

    @Test func afterTheGraceWhatRunsFails() async throws {
        try await withServer(answer: { _ in [] }) { client, server, origin in
            let subscriber = Subscriber()
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await server.requestCount(atLeast: 1)
            await client.shutdown(grace: .milliseconds(10))
            guard case .failure(let error) = await subscriber.completion() else {
                Issue.record("finished")
                return
            }
            #expect(error.code == .shutdown)
            #expect(error.outcome == .unknown)
        }
    }

    @Test func whatWaitsFailsAtOnce() async throws {
        let configuration = HTTPClientConfiguration { $0.maximumConnectionsPerOrigin = 1 }
        try await withServer(configuration: configuration, answer: { _ in [] }) { client, server, origin in
            let subscribers = (0..<3).map { _ in Subscriber() }
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscribers[0])
            await server.requestCount(atLeast: 1)
            for subscriber in subscribers[1...] {
                client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            }
            await client.shutdown(grace: .zero)
            for subscriber in subscribers[1...] {
                let error = HTTPClientError(code: .shutdown, outcome: .notSent, origin: origin)
                #expect(await subscriber.completion() == .failure(error))
            }
            await subscribers[0].completion()
        }
    }

    @Test func twiceIsLikeOnce() async throws {
        try await withServer(answer: { _ in ok() }) { client, server, origin in
            _ = await client.get(origin)
            async let first: Void = client.shutdown()
            async let second: Void = client.shutdown()
            _ = await (first, second)
            await client.shutdown()
            await server.allConnectionsClosed()
            #expect(await client.get(origin).failure?.code == .shutdown)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aShutdownPublisherIsCold() async throws {
        try await withServer(answer: { _ in ok("x") }) { client, _, origin in
            let publisher: AnyPublisher<Void, Never> = client.shutdown()
            #expect(await client.get(origin).value?.text == "x")
            _ = publisher
        }
    }

    @Test func aForgottenClientClosesItsConnections() async throws {
        let server = try await FaultServer.start { _ in ok("x") }
        let origin = Origin(scheme: .http, host: "127.0.0.1", port: server.port)
        do {
            let client = HTTPClient(configuration: .patient)
            #expect(await client.get(origin).value?.text == "x")
            #expect(server.openCount == 1)
        }
        await server.allConnectionsClosed()
        try await server.stopped()
    }

    @Test func aRequestKeepsItsClient() async throws {
        let gate = Gate()
        let server = try await FaultServer.start { _ in [.wait(gate)] + ok("x") }
        let origin = Origin(scheme: .http, host: "127.0.0.1", port: server.port)
        let subscriber = Subscriber()
        HTTPClient(configuration: .patient).parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
        await server.requestCount(atLeast: 1)
        gate.open()
        #expect(await subscriber.completion() == .finished)
        await server.allConnectionsClosed()
        try await server.stopped()
    }
}
