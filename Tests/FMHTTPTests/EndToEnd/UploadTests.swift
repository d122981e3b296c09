import FMHTTP
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@Suite(.timeLimit(.minutes(15)))
struct UploadTests {
    private struct SourceBroke: Error {}

    private func put(
        _ origin: Origin,
        length: Int,
        isSafe: Bool = false,
        isReplayable: Bool = false,
        _ make: @escaping @Sendable () -> AnyPublisher<ByteBuffer, any Error>
    ) -> HTTPRequest {
        let body = HTTPBody.stream(length: length, isReplayable: isReplayable, make)
        return HTTPRequest(method: .PUT, origin: origin, target: "/", body: body, isSafeToRepeat: isSafe)
    }

    private func chunks(_ texts: [String]) -> AnyPublisher<ByteBuffer, any Error> {
        texts.map { ByteBuffer(string: $0) }.publisher.setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }

    @Test func sendsWhatThePublisherGives() async throws {
        try await withServer(answer: { ok(String(buffer: $0.body)) }) { client, server, origin in
            let request = put(origin, length: 9) { self.chunks(["abc", "def", "ghi"]) }
            #expect(await client.send(request).value?.text == "abcdefghi")
            #expect(server.requests[0].headers["content-length"] == ["9"])
            #expect(client.counts == PoolCounts(idle: 1))
        }
    }

    @Test func asksForOneChunkAtATime() async throws {
        try await withServer(answer: { ok("\($0.body.readableBytes)") }) { client, _, origin in
            let demands = Locked<[Subscribers.Demand]>([])
            let request = put(origin, length: 100_000) {
                (0..<100).publisher
                    .map { _ in ByteBuffer(repeating: 0, count: 1000) }
                    .setFailureType(to: (any Error).self)
                    .handleEvents(receiveRequest: { demand in demands.change { $0.append(demand) } })
                    .eraseToAnyPublisher()
            }
            #expect(await client.send(request).value?.text == "100000")
            #expect(demands.value == Array(repeating: .max(1), count: 100))
        }
    }

    /// Keeps its subscriber until the test has a publisher for it.
    private final class Late: Publisher, @unchecked Sendable {
        typealias Output = ByteBuffer
        typealias Failure = any Error

        // @unchecked: `lock` guards the subscriber.
        private let lock = NIOLock()
        private var subscriber: AnySubscriber<ByteBuffer, any Error>?

        var isSubscribed: Bool { lock.withLock { subscriber != nil } }

        func receive<S: Subscriber<ByteBuffer, any Error>>(subscriber: S) {
            lock.withLock { self.subscriber = AnySubscriber(subscriber) }
        }

        func begin(_ publisher: AnyPublisher<ByteBuffer, any Error>) {
            if let subscriber = lock.withLock({ subscriber }) { publisher.subscribe(subscriber) }
        }
    }

    @Test func aPublisherMaySendItsSubscriptionLate() async throws {
        try await withServer(answer: { ok(String(buffer: $0.body)) }) { client, server, origin in
            let late = Late()
            let subscriber = TrackingSubscriber<HTTPResponsePart, HTTPClientError>()
            client.parts(put(origin, length: 6) { late.eraseToAnyPublisher() }).subscribe(subscriber)
            await until { late.isSubscribed }
            late.begin(chunks(["abc", "def"]))
            await until { subscriber.completionIfAny != nil }
            #expect(server.requests.map { String(buffer: $0.body) } == ["abcdef"])
        }
    }

    @Test func aServerThatDoesNotReadStopsThePublisher() async throws {
        // A server that does not read does not see the end of the connection either, so the gate ends it.
        let gate = Gate()
        let options = FaultServer.Options(reads: false, onAccept: { _ in [.wait(gate), .reset] })
        try await withServer(options, answer: { _ in [] }) { client, server, origin in
            let given = Locked(0)
            // One chunk for all: a sequence is mapped as a whole, and would otherwise be a gigabyte.
            let chunk = ByteBuffer(repeating: 0, count: 1 << 16)
            let request = put(origin, length: 1 << 30) {
                (0..<(1 << 14)).publisher
                    .map { _ in chunk }
                    .setFailureType(to: (any Error).self)
                    .handleEvents(receiveOutput: { bytes in given.change { $0 += bytes.readableBytes } })
                    .eraseToAnyPublisher()
            }
            let subscriber = TrackingSubscriber<HTTPResponsePart, HTTPClientError>()
            client.parts(request).subscribe(subscriber)
            await until { given.value > 0 }
            await settled { given.value }
            #expect(given.value < 1 << 29)
            subscriber.cancel()
            gate.open()
        }
    }

    @Test(arguments: [["abcd"], ["ab", "cd"], ["ab"], []])
    func aBodyOfAnotherLengthFails(texts: [String]) async throws {
        try await withServer(answer: { _ in [] }) { client, _, origin in
            let error = await client.send(put(origin, length: 3) { self.chunks(texts) }).failure
            #expect(error?.code == .bodyLengthMismatch)
            #expect(error?.outcome == .unknown)
            await until { client.counts == PoolCounts() }
        }
    }

    @Test func aBodyThatFails() async throws {
        try await withServer(answer: { _ in [] }) { client, _, origin in
            let request = put(origin, length: 3) {
                self.chunks(["a"]).append(Fail(error: SourceBroke() as any Error)).eraseToAnyPublisher()
            }
            let error = await client.send(request).failure
            #expect(error?.code == .bodyFailed)
            #expect(error?.underlying == "SourceBroke")
        }
    }

    @Test func anEmptyStream() async throws {
        try await withServer(answer: { ok("\($0.body.readableBytes)") }) { client, server, origin in
            #expect(await client.send(put(origin, length: 0) { self.chunks([]) }).value?.text == "0")
            #expect(server.requests[0].headers["content-length"] == ["0"])
        }
    }

    @Test func aReplayableBodyIsMadeAnewForASecondAttempt() async throws {
        try await withServer(answer: { $0.number == 2 ? [.close] : ok(String(buffer: $0.body)) }) {
            client,
            server,
            origin in
            let made = Locked(0)
            let request = put(origin, length: 2, isSafe: true, isReplayable: true) {
                made.change { $0 += 1 }
                return self.chunks(["h", "i"])
            }
            for _ in 0..<2 { #expect(await client.send(request).value?.text == "hi") }
            #expect(made.value == 3)
            #expect(server.requests.map { String(buffer: $0.body) } == ["hi", "hi", "hi"])
        }
    }

    @Test func aBodyThatIsNotReplayableIsNotRepeated() async throws {
        try await withServer(answer: { $0.number == 2 ? [.close] : ok() }) { client, server, origin in
            let request = put(origin, length: 2, isSafe: true, isReplayable: false) { self.chunks(["hi"]) }
            #expect(await client.send(request).value != nil)
            #expect(await client.send(request).failure?.code == .connectionClosed)
            #expect(server.requests.count == 2)
        }
    }
}
