import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@Suite(.timeLimit(.minutes(15)))
struct BackPressureTests {
    private typealias PartsSubscriber = TrackingSubscriber<HTTPResponsePart, HTTPClientError>

    private static let bodyBytes = 32 * 1024 * 1024
    private static let answer: [FaultServer.Step] = [
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(bodyBytes)\r\n\r\n"), .sendZeros(bodyBytes),
    ]

    @Test func whoAsksForNothingStopsTheServer() async throws {
        try await withServer(answer: { _ in Self.answer }) { client, server, origin in
            let subscriber = PartsSubscriber(initialDemand: .max(1))
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 1)
            // The head is delivered and there is no more demand, so the server can send as much as the sockets hold and
            // no more.
            await server.bytesWritten(atLeast: 1)
            await settled { server.bytesWritten }
            #expect(subscriber.values.count == 1)
            #expect(server.bytesWritten < Self.bodyBytes / 2)

            subscriber.request(.max(1))
            await subscriber.valueCount(atLeast: 2)
            await settled { server.bytesWritten }
            #expect(subscriber.values.count == 2, "a demand of one is one part")
            #expect(server.bytesWritten < Self.bodyBytes / 2)

            subscriber.request(.unlimited)
            #expect(await subscriber.completion() == .finished)
            #expect(subscriber.values.bodyBytes == Self.bodyBytes)
        }
    }

    @Test func aSubscriberThatBlocksStopsTheServerToo() async throws {
        try await withServer(answer: { _ in Self.answer }) { client, server, origin in
            let gate = Gate()
            let subscriber = PartsSubscriber(onEvent: { event in
                if case .value(.body) = event { gate.blockThread() }
            })
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 2)
            await settled { server.bytesWritten }
            #expect(server.bytesWritten < Self.bodyBytes / 2)
            gate.open()
            #expect(await subscriber.completion() == .finished)
        }
    }

    @Test(arguments: [HTTPClientConfiguration.Delivery.background, .eventLoop])
    func onePartAtATimeGetsEverything(delivery: HTTPClientConfiguration.Delivery) async throws {
        let configuration = HTTPClientConfiguration { $0.delivery = delivery }
        try await withServer(configuration: configuration, answer: { _ in Self.answer }) { client, _, origin in
            let subscriber = PartsSubscriber(initialDemand: .max(1), demandAfterValue: { _ in .max(1) })
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            #expect(await subscriber.completion() == .finished)
            #expect(subscriber.values.bodyBytes == Self.bodyBytes)
        }
    }

    @Test func aPauseIsNotTheServersFault() async throws {
        let configuration = HTTPClientConfiguration { $0.timeouts = HTTPTimeouts(idle: .milliseconds(30)) }
        try await withServer(configuration: configuration, answer: { _ in Self.answer }) { client, server, origin in
            let subscriber = PartsSubscriber(initialDemand: .max(1))
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 1)
            // Another request fails by the same limit; by then this one would have failed too.
            let stalled = try await FaultServer.start { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")] }
            let error = await client.get(Origin(scheme: .http, host: "localhost", port: stalled.port)).failure
            #expect(error?.code == .idleTimeout)
            try await stalled.stopped()
            #expect(subscriber.completionIfAny == nil)
            subscriber.cancel()
        }
    }

    @Test func manySmallChunksUnderSmallDemand() async throws {
        let chunks = (0..<200).map { "1\r\n\($0 % 10)\r\n" }.joined()
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n"
        try await withServer(answer: { _ in [.send(answer)] }) { client, server, origin in
            let subscriber = PartsSubscriber(initialDemand: .max(1))
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            for count in 1...201 {
                await subscriber.valueCount(atLeast: count)
                #expect(subscriber.values.count == count)
                subscriber.request(.max(1))
            }
            #expect(await subscriber.completion() == .finished)
            #expect(subscriber.values.bodyBytes == 200)
        }
    }
}

extension [HTTPResponsePart] {
    fileprivate var bodyBytes: Int {
        reduce(0) { sum, part in
            guard case .body(let bytes) = part else { return sum }
            return sum + bytes.readableBytes
        }
    }
}
