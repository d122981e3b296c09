import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// How long a live query waits between two polls of a slow host, and while the host is away.
@Suite(.timeLimit(.minutes(5))) struct LivePauseTests {
    private static let options = DataAPI.LiveOptions(every: .milliseconds(200) ... .milliseconds(500))

    /// With a host that may take its time: the network's limit for the first byte is by the machine's clock.
    private static func run(_ body: (Harbour) async throws -> Void) async throws {
        try await Harbour.run(client: { $0.timeouts.firstByte = .seconds(3600) }, body)
    }

    /// Lets the next answer to such a request take 140 seconds.
    private static func slowDown(_ endpoint: Sandbox.Endpoint, of harbour: Harbour, _ begin: () -> Void) async {
        harbour.sandbox.inject(.holdAnswer, on: endpoint)
        begin()
        await harbour.sandbox.untilAnswersHeld()
        harbour.time.advance(by: .seconds(140))
        harbour.sandbox.releaseAnswers()
    }

    @Test func theFirstLookIsNotRested() async throws {
        try await Self.run { harbour in
            let query = harbour.inOslo.live(Self.options)
            let values = Harbour.Values()
            await Self.slowDown(.find, of: harbour) { query.subscribe(values) }
            await values.valueCount(atLeast: 1)
            await until { query.isAtRest }
            let pause = query.timeToNextLook(at: harbour.time.date)
            #expect(pause < .milliseconds(221), "\(pause)")
            values.cancel()
        }
    }

    @Test func theFirstLookOfACopyIsNotRested() async throws {
        try await Self.run { harbour in
            let copy = CopyTable()
            let changes = harbour.ships.changes(keptBy: copy.keeper, options: Self.options)
            var following: AnyCancellable?
            await Self.slowDown(.getRecords, of: harbour) { following = copy.follow(changes) }
            await copy.polls(1)
            await until { changes.isAtRest }
            let pause = changes.timeToNextLook(at: harbour.time.date)
            #expect(pause < .milliseconds(221), "\(pause)")
            following?.cancel()
        }
    }

    @Test func anOutageAndALongLookAreFollowedByAMinuteAtMost() async throws {
        try await Self.run { harbour in
            let query = harbour.inOslo.live(Self.options)
            let values = await harbour.watch(query)
            harbour.sandbox.inject(.error(FileMakerError(802)), count: nil)
            var pauses: [TimeInterval] = []
            for _ in 0..<12 {
                let (before, status) = (harbour.requests, query.statusNow)
                let pause = try #require(status.until).timeIntervalSince(harbour.time.date)
                pauses.append(pause)
                // Not before the moment that the status names.
                harbour.time.advance(by: .microseconds(Int64(pause * 1_000_000) - 2))
                expectNoDifference(query.statusNow.kind, status.kind)
                harbour.time.advance(by: .microseconds(4))
                await until { harbour.requests > before && query.isAtRest }
            }
            #expect(pauses.max()! <= 60, "\(pauses)")
            #expect(pauses.max()! >= 30, "\(pauses)")

            harbour.sandbox.clearFaults()
            _ = try await harbour.insert("Draken")
            await Self.slowDown(.find, of: harbour) { harbour.passTimeToNextPoll(of: query) }
            await values.valueCount(atLeast: 2)
            await until { query.isAtRest }
            // A tenth more by chance.
            let pause = query.timeToNextLook(at: harbour.time.date)
            #expect(pause > .seconds(53) && pause < .seconds(67), "\(pause)")
            values.cancel()
        }
    }
}
