import CustomDump
import FMData
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// A call that begins under one account ends with it, and values read under it are not delivered afterwards.
@Suite(.timeLimit(.minutes(15))) struct AccountPeriodPublisherTests {
    private typealias Values = TrackingSubscriber<Int, FMRest.APIError>

    private let accountPeriod = AccountPeriod(time: TestClock().sessionTime)

    private func call(
        _ exchange: StubExchange<Int>,
        error: @escaping () -> FMRest.APIError = { .credentialsReplaced() }
    ) -> AccountPeriodPublisher<Int> {
        AccountPeriodPublisher(accountPeriod: { accountPeriod }) { _ in
            .init(publisher: exchange.eraseToAnyPublisher(), error: error)
        }
    }

    private func end() { for call in accountPeriod.end() { call.accountPeriodEnded() } }

    // MARK: Calls

    @Test func nothingIsMadeBeforeDemand() {
        let exchange = StubExchange<Int>()
        let asked = Locked(0)
        let publisher = AccountPeriodPublisher<Int>(
            accountPeriod: {
                asked.change { $0 += 1 }
                return accountPeriod
            },
            makeWork: { _ in .init(publisher: exchange.eraseToAnyPublisher()) }
        )
        let values = Values(initialDemand: .none)
        publisher.subscribe(values)
        expectNoDifference(asked.value, 0)
        values.request(.max(2))
        values.request(.max(1))
        expectNoDifference(asked.value, 1)
        expectNoDifference(exchange.demand, [.max(2), .max(1)])
    }

    @Test func valuesAndTheEndPass() {
        let exchange = StubExchange<Int>()
        let values = Values(initialDemand: .max(1), demandAfterValue: { _ in .max(1) })
        call(exchange).subscribe(values)
        exchange.send(1)
        exchange.send(2)
        exchange.succeed(3)
        expectNoDifference(values.values, [1, 2, 3])
        expectNoDifference(values.completionIfAny?.isFinished, true)
        expectNoDifference(accountPeriod.end().count, 0, "a call that has ended is under way no more")
    }

    @Test func theEndOfTheAccountPeriodIsTheEndOfTheCall() {
        let exchange = StubExchange<Int>()
        let values = Values()
        call(exchange) { .credentialsReplaced(outcomeIsUnknown: true) }.subscribe(values)
        exchange.send(1)
        end()
        expectNoDifference(values.values, [1])
        expectNoDifference(values.completionIfAny?.code, .credentialsReplaced)
        expectNoDifference(values.completionIfAny?.error?.outcomeIsUnknown, true)
        #expect(exchange.isCancelled)
        exchange.succeed(2)
        expectNoDifference(values.history.count, 3)
    }

    @Test func whoCancelsHasLeft() {
        let exchange = StubExchange<Int>()
        let values = Values()
        call(exchange).subscribe(values)
        values.cancel()
        #expect(exchange.isCancelled)
        expectNoDifference(accountPeriod.end().count, 0)
        end()
        expectNoDifference(values.history.count, 1)
    }

    // MARK: What is told of a call

    /// Notes what it is told, also what comes after the end.
    private final class Watch: PublisherWatch {
        private let notes = Locked<[String]>([])

        var lines: [String] { notes.value }

        func published(rows: Int) { notes.change { $0.append("\(rows)") } }
        func ended(_ failure: FMRest.APIError?) { notes.change { $0.append(failure.map { "\($0.code)" } ?? "end") } }
        func cancelled() { notes.change { $0.append("cancelled") } }
    }

    private func watched(_ exchange: StubExchange<Int>, _ watch: Watch) -> AccountPeriodPublisher<Int> {
        // Each value is the number of its records.
        AccountPeriodPublisher(accountPeriod: { accountPeriod }, rowCount: { $0 }) { _ in
            .init(publisher: exchange.eraseToAnyPublisher(), watch: watch)
        }
    }

    @Test func valuesAndTheEndAreToldBeforeTheyArrive() {
        let (exchange, watch, told) = (StubExchange<Int>(), Watch(), Locked<[Int]>([]))
        let subscription = watched(exchange, watch).sink(
            receiveCompletion: { _ in told.change { $0.append(watch.lines.count) } },
            receiveValue: { _ in told.change { $0.append(watch.lines.count) } }
        )
        exchange.send(1)
        exchange.succeed(2)
        subscription.cancel()
        expectNoDifference(watch.lines, ["1", "2", "end"])
        expectNoDifference(told.value, [1, 2, 3])
    }

    @Test func aCancelIsTold() {
        let (exchange, watch, values) = (StubExchange<Int>(), Watch(), Values())
        watched(exchange, watch).subscribe(values)
        exchange.send(1)
        values.cancel()
        end()
        expectNoDifference(watch.lines, ["1", "cancelled"])
    }

    @Test func theEndOfTheAccountPeriodIsToldAsAFailure() {
        let (exchange, watch, values) = (StubExchange<Int>(), Watch(), Values())
        watched(exchange, watch).subscribe(values)
        end()
        values.cancel()
        expectNoDifference(watch.lines, ["credentialsReplaced"])
        let late = Watch()
        watched(StubExchange<Int>(), late).subscribe(Values())
        expectNoDifference(late.lines, ["credentialsReplaced"])
    }

    @Test func whoCancelsWhileTheWorkIsMadeIsTold() {
        let (exchange, watch, values) = (StubExchange<Int>(), Watch(), Values())
        AccountPeriodPublisher<Int>(accountPeriod: { accountPeriod }) { _ in
            values.cancel()
            return .init(publisher: exchange.eraseToAnyPublisher(), watch: watch)
        }
        .subscribe(values)
        expectNoDifference(watch.lines, ["cancelled"])
        expectNoDifference(exchange.demand, [])
        expectNoDifference(accountPeriod.end().count, 0)
    }

    @Test func whatComesTooLateDoesNotBegin() {
        let exchange = StubExchange<Int>()
        end()
        let values = Values()
        call(exchange).subscribe(values)
        #expect(!exchange.isSubscribed)
        expectNoDifference(values.completionIfAny?.code, .credentialsReplaced)
    }

    /// The events of one subscription are serial: a failure that comes from inside a value's delivery waits until the
    /// delivery has returned.
    @Test func theEndComesAfterTheValueThatIsBeingHandedOver() {
        let exchange = StubExchange<Int>()
        let log = Locked<[String]>([])
        let values = Values(onEvent: { event in
            switch event {
            case .subscription: break
            case .value(let value):
                log.change { $0.append("\(value)") }
                end()
                log.change { $0.append("taken") }
            case .completion: log.change { $0.append("end") }
            }
        })
        call(exchange).subscribe(values)
        exchange.send(1)
        exchange.send(2)
        expectNoDifference(log.value, ["1", "taken", "end"])
    }

    @Test func theEndOnAnotherThreadWaitsForTheValue() {
        for _ in 0..<200 {
            let accountPeriod = AccountPeriod(time: TestClock().sessionTime)
            let exchange = StubExchange<Int>()
            let isTaking = Locked(false)
            let overlaps = Locked(0)
            let values = Values(onEvent: { event in
                if isTaking.value { overlaps.change { $0 += 1 } }
                guard case .value = event else { return }
                isTaking.change { $0 = true }
                for _ in 0..<50 { _ = isTaking.value }
                isTaking.change { $0 = false }
            })
            AccountPeriodPublisher<Int>(accountPeriod: { accountPeriod }) { _ in
                .init(publisher: exchange.eraseToAnyPublisher())
            }
            .subscribe(values)
            race(rounds: 1, { exchange.send(1) }, { for call in accountPeriod.end() { call.accountPeriodEnded() } })
            expectNoDifference(overlaps.value, 0)
            expectNoDifference(values.completionIfAny?.code, .credentialsReplaced)
        }
    }

    @Test func cancelAndEndOnTwoThreadsLeaveNothingBehind() {
        for _ in 0..<200 {
            let accountPeriod = AccountPeriod(time: TestClock().sessionTime)
            let exchange = StubExchange<Int>()
            let values = Values(initialDemand: .none)
            AccountPeriodPublisher<Int>(accountPeriod: { accountPeriod }) { _ in
                .init(publisher: exchange.eraseToAnyPublisher())
            }
            .subscribe(values)
            race(
                rounds: 1,
                { values.request(.unlimited) },
                { values.cancel() },
                { for call in accountPeriod.end() { call.accountPeriodEnded() } }
            )
            #expect(!exchange.isSubscribed || exchange.isCancelled)
            expectNoDifference(accountPeriod.end().count, 0)
        }
    }

    @Test func allIsLetGoAtTheEnd() {
        weak var kept: StubExchange<Int>?
        let values = Values()
        do {
            let exchange = StubExchange<Int>()
            kept = exchange
            call(exchange).subscribe(values)
        }
        #expect(kept != nil)
        end()
        #expect(kept == nil)
    }

    // MARK: Values

    @Test func whatHasWaitedIsAFailure() {
        let upstream = StubExchange<Int>()
        let values = Values()
        upstream.read(in: { accountPeriod }, mayHaveWritten: true).subscribe(values)
        upstream.send(1)
        end()
        expectNoDifference(values.history.count, 2, "who has had nothing since is not disturbed")
        upstream.send(2)
        expectNoDifference(values.values, [1])
        expectNoDifference(values.completionIfAny?.code, .credentialsReplaced)
        expectNoDifference(values.completionIfAny?.error?.outcomeIsUnknown, true)
        #expect(upstream.isCancelled)
    }

    @Test func anEndThatNothingIsMissingBeforeIsTheEnd() {
        let upstream = StubExchange<Int>()
        let values = Values()
        upstream.read(in: { accountPeriod }).subscribe(values)
        upstream.send(1)
        end()
        upstream.finish()
        expectNoDifference(values.values, [1])
        expectNoDifference(values.completionIfAny?.isFinished, true)
    }

    private actor Desk {
        /// Sends a value to this actor, and ends the account period before the value is delivered.
        func clear(_ upstream: StubExchange<Int>, _ end: @Sendable () -> Void) {
            upstream.send(2)
            end()
        }
    }

    @Test func whatWaitsForAnActorIsNotHandedOver() async {
        let upstream = StubExchange<Int>()
        let (budgetClient, values) = (Desk(), Values())
        let accountPeriod = accountPeriod
        upstream.receive(on: budgetClient).read(in: { accountPeriod }).subscribe(values)
        upstream.send(1)
        await values.valueCount(atLeast: 1)
        await budgetClient.clear(upstream) { _ = accountPeriod.end() }
        await values.completion()
        expectNoDifference(values.values, [1])
        expectNoDifference(values.completionIfAny?.code, .credentialsReplaced)
    }

    // MARK: Sessions

    @Test func whoWaitsForASessionIsRefusedAndTheNextOneGetsIt() {
        let fixture = PoolFixture(answersAtOnce: false)
        let next = AccountPeriod(time: fixture.time.sessionTime)
        func lease(in accountPeriod: AccountPeriod) -> Recorder<SessionLease> {
            fixture.pool.lease(in: accountPeriod).record { $0.token.value }
        }
        let early = lease(in: accountPeriod)
        expectNoDifference(fixture.server.logIns.count, 1)
        fixture.replaceCredentials(ending: accountPeriod)
        expectNoDifference(early.history, ["failed credentialsReplaced"])
        expectNoDifference(lease(in: accountPeriod).history, ["failed credentialsReplaced"])
        let own = lease(in: next)
        expectNoDifference(fixture.transitions, ["replaced"])
        // The login in progress belongs to the previous account: its session is logged out.
        fixture.server.logIns[0].succeed(SessionToken("before"))
        expectNoDifference(fixture.server.loggedOut, ["before"])
        fixture.server.logOuts[0].succeed(())
        fixture.server.logIns[1].succeed(SessionToken("own"))
        expectNoDifference(own.history, ["own", "finished"])
        fixture.pool.close()
    }

    /// The credentials were replaced during the login, so the session is not wanted when it arrives.
    @Test func theSessionOfAnAccountThatWasReplacedIsLoggedOut() {
        let fixture = PoolFixture()
        fixture.replaceCredentials(ending: accountPeriod)
        let isWanted = fixture.pool.adopt(SessionToken("hers"), isOwned: true, in: accountPeriod)
        #expect(!isWanted)
        expectNoDifference(fixture.pool.status.sessions, 0)
        expectNoDifference(fixture.server.loggedOut, ["hers"])
        let isForeign = fixture.pool.adopt(SessionToken("foreign"), isOwned: false, in: accountPeriod)
        #expect(!isForeign)
        expectNoDifference(fixture.pool.openTokens, [])
    }
}
