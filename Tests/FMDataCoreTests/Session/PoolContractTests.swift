import CustomDump
import FMData
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// The contract of every publisher of the pool: nothing before demand; no more values than demanded; cancelling takes
/// effect at once and finally, at each stage; everything is released.
@Suite struct PoolContractTests {
    @Test func aLeaseIsOneValue() {
        let fixture = PoolFixture()
        let lease = fixture.pool.lease().record(demand: .none, describe: { $0.token.value })
        expectNoDifference(fixture.server.logInCount, 0)
        lease.request(.max(1))
        lease.request(.max(1))
        expectNoDifference(lease.history, ["T1", "finished"])
        expectNoDifference(fixture.pool.status.leased, 1)
    }

    @Test func aLeaseThatIsCancelledInTheQueueLeavesIt() {
        let fixture = PoolFixture(answersAtOnce: false)
        let lease = fixture.pool.lease().record(describe: { $0.token.value })
        expectNoDifference(fixture.pool.status.waiting, 1)
        lease.cancel()
        lease.cancel()
        expectNoDifference(fixture.pool.status.waiting, 0)
        expectNoDifference(lease.history, [])
    }

    @Test func cancellingBeforeDemandAsksForNothing() {
        let fixture = PoolFixture()
        let request = fixture.request(demand: .none)
        let lease = fixture.pool.lease().record(demand: .none)
        let ending = fixture.pool.logOut().record(demand: .none)
        request.cancel()
        lease.cancel()
        ending.cancel()
        expectNoDifference(fixture.server.logInCount, 0)
        expectNoDifference(request.history + lease.history + ending.history, [])
    }

    @Test func cancellingWhileWaitingLeavesTheQueue() {
        let fixture = PoolFixture(answersAtOnce: false)
        let request = fixture.request()
        request.cancel()
        expectNoDifference(fixture.pool.status.waiting, 0)
    }

    @Test func cancellingWhileRunningEndsTheExchangeAndGivesTheSessionBack() {
        let fixture = PoolFixture()
        let exchange = StubExchange<String>()
        let request = fixture.request(exchange)
        request.cancel()
        request.cancel()
        #expect(exchange.isCancelled)
        exchange.succeed("late")
        expectNoDifference(request.history, [])
        expectNoDifference(fixture.pool.status.leased, 0)
        expectNoDifference(fixture.request().history, ["T1", "finished"])
    }

    @Test func cancellingFromInsideAValueEndsIt() {
        let fixture = PoolFixture()
        let exchange = StubExchange<String>()
        let request = Recorder<String>(onValue: { recorder, _ in
            recorder.cancel()
            return .unlimited
        })
        fixture.pool.authorized { _ in exchange.eraseToAnyPublisher() }.subscribe(request)
        exchange.send("one")
        exchange.send("two")
        exchange.finish()
        expectNoDifference(request.history, ["one"])
        expectNoDifference(fixture.pool.status.leased, 0)
    }

    @Test func valuesPassWithTheirDemand() {
        let fixture = PoolFixture()
        let exchange = StubExchange<String>()
        let request = Recorder<String>(demand: .max(1), onValue: { _, value in value == "one" ? .max(2) : .none })
        fixture.pool.authorized { _ in exchange.eraseToAnyPublisher() }.subscribe(request)
        expectNoDifference(exchange.demand, [.max(1)])
        expectNoDifference(exchange.send("one"), .max(2))
        expectNoDifference(exchange.send("two"), Subscribers.Demand.none)
        request.request(.max(5))
        expectNoDifference(exchange.demand, [.max(1), .max(5)])
        exchange.finish()
        expectNoDifference(request.history, ["one", "two", "finished"])
    }

    @Test func theNextRequestMayStartFromInsideTheEndOfTheOneBefore() {
        let fixture = PoolFixture()
        let second = Recorder<String>()
        let first = Recorder<String>(onCompletion: { _ in
            fixture.pool.authorized { lease in
                Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            }
            .subscribe(second)
        })
        fixture.pool.authorized { lease in
            Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        }
        .subscribe(first)
        // The first request gave its session back before it finished, so the second request uses it.
        expectNoDifference(second.history, ["T1", "finished"])
        expectNoDifference(fixture.server.logInCount, 1)
    }

    @Test(.thorough) func thousandsOfRequestsInARowDoNotPileUpOnTheStack() {
        let fixture = PoolFixture()
        let held = fixture.leases(1)
        let requests = (0..<9_000).map { _ in fixture.request() }
        fixture.pool.release(held[0], .used)
        expectNoDifference(requests.count(where: \.isEnded), 9_000)
    }

    @Test func everythingIsReleased() {
        weak var pool: SessionPool?
        weak var recorder: Recorder<String>?
        do {
            let fixture = PoolFixture()
            pool = fixture.pool
            let finished = fixture.request()
            let cancelled = fixture.request(StubExchange<String>())
            cancelled.cancel()
            recorder = finished
            _ = fixture.pool.shutdown().setFailureType(to: FMRest.APIError.self).record(describe: { _ in "done" })
        }
        #expect(recorder == nil)
        #expect(pool == nil)
    }

    @Test func aPoolThatIsLetGoClosesItsSessionsFirst() {
        let server = StubServer(answersAtOnce: false)
        let time = TestClock()
        weak var weakPool: SessionPool?
        do {
            let pool = SessionPool(authenticator: server.authenticator, time: time.sessionTime, jitter: { 1 })
            weakPool = pool
            let request = pool.authorized { lease in
                Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            }
            .record()
            server.logIns[0].succeed(server.open())
            expectNoDifference(request.history, ["T1", "finished"])
            pool.close()
        }
        #expect(weakPool != nil)
        expectNoDifference(server.loggedOut, ["T1"])
        server.logOuts[0].succeed(())
        #expect(weakPool == nil)
    }

    @Test(arguments: 0..<40)
    func cancellingRacesWithTheAnswer(_: Int) {
        let fixture = PoolFixture(answersAtOnce: false)
        let requests = (0..<8).map { _ in fixture.request() }
        raceThreads(
            { for request in requests { request.cancel() } },
            { fixture.server.logIns[0].succeed(fixture.server.open()) }
        )
        // Cancelling may take effect before, between or after the request's two events, but no other event may come.
        for request in requests { #expect(["T1", "finished"].starts(with: request.history)) }
        expectNoDifference(fixture.pool.status.leased, 0)
        expectNoDifference(fixture.pool.status.waiting, 0)
    }

    @Test(.thorough, arguments: 0..<20)
    func manyThreadsShareFewSessions(_: Int) {
        let fixture = PoolFixture { $0.maximumSessions = 3 }
        let inUse = NIOLockedValueBox<Set<String>>([])
        let faults = NIOLockedValueBox(0)
        let ended = NIOLockedValueBox(0)
        let work: @Sendable () -> Void = {
            for _ in 0..<200 {
                let request = fixture.pool.authorized { lease -> AnyPublisher<String, FMRest.APIError> in
                    Deferred {
                        let isAlone = inUse.withLockedValue { $0.insert(lease.token.value).inserted }
                        if !isAlone { faults.withLockedValue { $0 += 1 } }
                        inUse.withLockedValue { _ = $0.remove(lease.token.value) }
                        return Just(lease.token.value).setFailureType(to: FMRest.APIError.self)
                    }
                    .eraseToAnyPublisher()
                }
                request.subscribe(Recorder<String>(onCompletion: { _ in ended.withLockedValue { $0 += 1 } }))
            }
        }
        raceThreads(work, work, work, work)
        expectNoDifference(faults.withLockedValue { $0 }, 0)
        expectNoDifference(ended.withLockedValue { $0 }, 800)
        expectNoDifference(fixture.pool.status.leased, 0)
        #expect(fixture.server.logInCount <= 3)
    }
}
