import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

/// Thousands of requests against a server that misbehaves at random, some of them cancelled at random: every request
/// ends exactly once, no write is done twice, and nothing is left. The seed is in the test's name.
@Suite(.timeLimit(.minutes(15)))
struct RandomWalkTests {
    private static let requestsPerSeed = 1_500

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func everyRequestEndsOnceAndNoWriteIsDoneTwice(seed: UInt64) async throws {
        let random = Locked(SeededRandom(seed: seed))
        let executed = Locked<[String: Int]>([:])
        let timeouts = HTTPTimeouts(firstByte: .milliseconds(50), idle: .milliseconds(50))
        let configuration = HTTPClientConfiguration(timeouts: timeouts, maximumConnectionsPerOrigin: 6)

        try await withServer(
            .init(onAccept: { _ in Self.chance(random, 40) ? [.close] : [] }),
            configuration: configuration,
            answer: { request in
                // A write is executed when it is read; whether the client learns of it is another matter.
                if request.method == .POST { executed.change { $0[request.target, default: 0] += 1 } }
                return Self.answer(random)
            }
        ) { client, _, origin in
            let tally = Locked(Tally())
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Self.requestsPerSeed {
                    if number >= 16 { await group.next() }
                    group.addTask { await Self.send(number, client, origin, random, tally) }
                }
            }
            let result = tally.value
            #expect(result.ended == Self.requestsPerSeed)

            // Each write ran at most once; each that was acknowledged ran; each that "was not sent" did not.
            let counts = executed.value
            #expect(counts.values.allSatisfy { $0 == 1 })
            #expect(result.acknowledged.allSatisfy { counts[$0] == 1 })
            #expect(result.notSent.allSatisfy { counts[$0] == nil })
            let known = result.acknowledged.union(result.unknown)
            #expect(Set(counts.keys).isSubset(of: known))
            await until { client.counts.leased + client.counts.connecting + client.counts.waiting == 0 }
        }
    }

    private struct Tally: Sendable {
        var ended = 0
        var acknowledged: Set<String> = []
        var unknown: Set<String> = []
        var notSent: Set<String> = []
    }

    private static func send(
        _ number: Int,
        _ client: HTTPClient,
        _ origin: Origin,
        _ random: Locked<SeededRandom>,
        _ tally: Locked<Tally>
    ) async {
        let isWrite = number.isMultiple(of: 2)
        let target = "/\(number)"
        let request = HTTPRequest(
            method: isWrite ? .POST : .GET,
            origin: origin,
            target: target,
            isSafeToRepeat: !isWrite
        )
        let subscriber = TrackingSubscriber<HTTPResponse, HTTPClientError>()
        client.response(request).subscribe(subscriber)
        if chance(random, 10) {
            await Task.yield()
            subscriber.cancel()
            // Cancelled, or just done: both are ends, and what became of a write is the caller's not to know.
            tally.change {
                $0.ended += 1
                if isWrite { $0.unknown.insert(target) }
            }
            return
        }
        let completion = await subscriber.completion()
        tally.change { tally in
            tally.ended += 1
            guard isWrite else { return }
            switch completion {
            case .finished: tally.acknowledged.insert(target)
            case .failure(let error):
                switch error.outcome {
                case .notSent: tally.notSent.insert(target)
                case .unknown, .answered: tally.unknown.insert(target)
                }
            }
        }
        #expect(subscriber.values.count == (completion == .finished ? 1 : 0))
        #expect(subscriber.history.count == (completion == .finished ? 3 : 2))
    }

    private static func chance(_ random: Locked<SeededRandom>, _ oneIn: Int) -> Bool {
        number(random, below: oneIn) == 0
    }

    private static func number(_ random: Locked<SeededRandom>, below bound: Int) -> Int {
        var number = 0
        random.change { number = Int.random(in: 0..<bound, using: &$0) }
        return number
    }

    private static func answer(_ random: Locked<SeededRandom>) -> [FaultServer.Step] {
        let good = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        switch number(random, below: 24) {
        case 0: return [.close]
        case 1: return [.reset]
        case 2: return [.send(String(good.prefix(number(random, below: good.count)))), .close]
        case 3: return [.send(String(good.prefix(number(random, below: good.count)))), .reset]
        case 4: return [.send(good), .close]
        case 5: return [.send(good), .reset]
        case 6: return [.send(good + "garbage")]
        case 7: return [.send("garbage")]
        case 8: return [.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")]
        case 9: return [.send("HTTP/1.1 200 OK\r\n\r\nuntil the end"), .close]
        case 10: return [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")]
        case 11: return [.sendByteByByte(good)]
        case 12: return []
        case 13: return [.send(good), .closeOutput]
        default: return [.send(good)]
        }
    }
}
