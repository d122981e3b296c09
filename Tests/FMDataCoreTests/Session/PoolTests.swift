import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// The pool as its owner sees it: credentials, failures, logout, shutdown and status.
@Suite struct PoolTests {
    @Test func aRefusedLoginReachesEveryWaiterWithFileMakersCode() {
        let fixture = PoolFixture(answersAtOnce: false)
        let requests = (0..<3).map { _ in fixture.request() }
        fixture.server.logIns[0].fail(.wrongPassword)
        expectNoDifference(requests.map(\.history), Array(repeating: ["failed fileMaker 212"], count: 3))
        expectNoDifference(fixture.transitions, ["lost 212"])
    }

    @Test func theNewsComeBeforeTheirConsequences() {
        let fixture = PoolFixture(answersAtOnce: false)
        let heardAtTheEnd = NIOLockedValueBox<[String]>([])
        let request = Recorder<String>(onCompletion: { _ in
            heardAtTheEnd.withLockedValue { $0 = fixture.transitions }
        })
        fixture.pool.authorized { _ in Empty().eraseToAnyPublisher() }.subscribe(request)
        fixture.server.logIns[0].fail(.wrongPassword)
        expectNoDifference(heardAtTheEnd.withLockedValue { $0 }, ["lost 212"])
    }

    @Test func aLoginThatFinishesWithoutATokenIsAnError() {
        let fixture = PoolFixture(answersAtOnce: false)
        let request = fixture.request()
        fixture.server.logIns[0].finish()
        expectNoDifference(request.history, ["failed notDataAPI"])
    }

    @Test func whoWaitsForAFullHostGetsItsAnswerAtTheDeadline() {
        let fixture = PoolFixture(answersAtOnce: false) { $0.waitingDeadline = .seconds(2) }
        let request = fixture.request()
        fixture.server.logIns[0].fail(.hostFull)
        expectNoDifference(request.history, [])
        time(fixture, .seconds(1))
        fixture.server.logIns[1].fail(.hostFull)
        time(fixture, .seconds(1))
        expectNoDifference(request.history, ["failed fileMaker 956"])
        expectNoDifference(fixture.transitions, [])
    }

    /// The timeout names the last failed login, which is its cause: no session could be opened, so a larger pool would
    /// not help.
    @Test func whoWaitedForTheNextLoginIsToldOfTheOneThatFailed() {
        let fixture = PoolFixture(answersAtOnce: false) {
            $0.waitingDeadline = .seconds(2)
            $0.minimumBackOff = .seconds(10)
        }
        let failure = NIOLockedValueBox<FMRest.APIError?>(nil)
        let lease = fixture.pool.lease().sink { completion in
            if case .failure(let error) = completion { failure.withLockedValue { $0 = error } }
        } receiveValue: { _ in
        }
        fixture.server.logIns[0].fail(FMRest.APIError(.notDataAPI, reason: "A web page came.", httpStatus: 503))
        time(fixture, .seconds(2))
        let error = failure.withLockedValue { $0 }
        expectNoDifference(error?.code, .timeout)
        expectNoDifference(
            error?.reason,
            "The call waited for a login that succeeds; the limit was sessions.waitingDeadline, 2.0 seconds: 0 of 1 sessions, "
                + "0 leased, 0 logging in, 0 waiting; 0 logins, 1 failed, 0 refusals, 0 logouts. The last one failed: "
                + "A web page came."
        )
        lease.cancel()
    }

    /// With the default pauses the pool makes four attempts in ten seconds; then the waiting requests fail.
    @Test func aHostThatIsFullFromTheBeginningIsToldAfterTenSeconds() {
        let fixture = PoolFixture(answersAtOnce: false) { $0.maximumSessions = 8 }
        let requests = (0..<3).map { _ in fixture.request() }
        var answered = 0
        for second in 0..<10 {
            expectNoDifference(requests.map(\.history), [[], [], []], "\(second) s")
            while answered < fixture.server.logIns.count {
                fixture.server.logIns[answered].fail(.hostFull)
                answered += 1
            }
            time(fixture, .seconds(1))
        }
        expectNoDifference(requests.map(\.history), Array(repeating: ["failed fileMaker 956"], count: 3))
        expectNoDifference(answered, 4)
        expectNoDifference(fixture.pool.status.waiting, 0)
    }

    @Test func theFailureOfAFullHostSaysHowManySessionsThereAre() {
        var configuration = DataAPI.SessionConfiguration()
        configuration.fullHostDeadline = .seconds(3)
        var status = DataAPI.SessionStatus()
        status.failedLogins = 4
        let error = FMRest.APIError.hostFull.afterWaitingForFullHost(configuration, status)
        expectNoDifference(
            error.reason,
            "The host is at its limit of sessions and opened none for this database within 3.0 seconds (4 logins failed): "
                + "FileMaker error 956: maximum number of sessions is reached. This client holds 0 sessions of it, "
                + "and would open up to 8."
        )
        expectNoDifference(error.fileMakerCode, .sessionLimitExceeded)
    }

    // MARK: The time of a call

    @Test func aCallThatWaitsForItsSessionIsToldWhenItsTimeIsOver() {
        let fixture = PoolFixture(answersAtOnce: false)
        let request = fixture.pool.authorized(clock: CallClock(.seconds(2))) { _ in
            Empty<String, FMRest.APIError>().eraseToAnyPublisher()
        }
        let impatient = request.record(demand: .none)
        // The time begins with the demand, not with the subscription.
        time(fixture, .seconds(5))
        impatient.request(.max(1))
        time(fixture, .seconds(1))
        expectNoDifference(impatient.history, [])
        time(fixture, .seconds(1))
        expectNoDifference(impatient.history, ["failed timeout"])
    }

    @Test func theTimeOfACallIsForBothItsAttempts() {
        let fixture = PoolFixture()
        let exchange = StubExchange<String>()
        let attempts = NIOLockedValueBox(0)
        let held = NIOLockedValueBox<[SessionLease]>([])
        let request = fixture.pool.authorized(clock: CallClock(.seconds(10))) { _ in
            attempts.withLockedValue { $0 += 1 }
            return exchange.eraseToAnyPublisher()
        }
        .record()
        // Another request takes the session that the second attempt would need.
        fixture.pool.lease().subscribe(
            Recorder<SessionLease>(onValue: { _, lease in
                held.withLockedValue { $0.append(lease) }
                return .none
            })
        )
        time(fixture, .seconds(8))
        exchange.fail(.refused)
        expectNoDifference(held.withLockedValue { $0.count }, 1)
        time(fixture, .seconds(1))
        expectNoDifference(request.history, [])
        time(fixture, .seconds(1))
        expectNoDifference(request.history, ["failed timeout"])
        expectNoDifference(attempts.withLockedValue { $0 }, 1)
    }

    @Test func theErrorOfACallsTimeSaysWhatTheSessionsWereDoing() {
        var status = DataAPI.SessionStatus()
        status.limit = 1
        let error = FMRest.APIError.noSessionForCall(
            within: .seconds(2),
            status,
            isWaitingForSlot: false,
            lastLogin: .hostFull
        )
        #expect(error.isRetryable && !error.outcomeIsUnknown)
        #expect(error.reason.contains("the limit was timeouts.total, 2.0 seconds"), "\(error)")
        #expect(error.reason.contains("0 of 1 sessions"), "\(error)")
        #expect(error.reason.contains("The host is full (FileMaker error 956"), "\(error)")
    }

    @Test func whoWaitsTooLongIsTold() {
        let fixture = PoolFixture(answersAtOnce: false)
        let request = fixture.request()
        time(fixture, .seconds(30))
        expectNoDifference(request.history, ["failed timeout"])
    }

    @Test func aFullQueueIsSaid() {
        let fixture = PoolFixture(answersAtOnce: false) { $0.maximumWaiting = 1 }
        let first = fixture.request()
        expectNoDifference(fixture.request().history, ["failed timeout"])
        expectNoDifference(first.history, [])
    }

    @Test func logOutTellsWhenItIsDoneAndTheNextRequestLogsIn() {
        let fixture = PoolFixture()
        _ = fixture.request()
        let logOut = fixture.pool.logOut()
        expectNoDifference(fixture.server.loggedOut, [])
        expectNoDifference(logOut.record(describe: { _ in "done" }).history, ["done", "finished"])
        expectNoDifference(logOut.record(describe: { _ in "done" }).history, ["done", "finished"])
        expectNoDifference(fixture.server.loggedOut, ["T1"])
        expectNoDifference(fixture.request().history, ["T2", "finished"])
        expectNoDifference(
            fixture.transitions,
            ["logged in T1", "logged out", "logged out", "logged in T2"]
        )
    }

    @Test func aTokenIsForgottenEvenIfItsLogoutFails() {
        let fixture = PoolFixture(answersAtOnce: false)
        let request = fixture.request()
        fixture.server.logIns[0].succeed(fixture.server.open())
        expectNoDifference(request.history, ["T1", "finished"])
        let logOut = fixture.pool.logOut().record(describe: { _ in "done" })
        fixture.server.logOuts[0].fail(.broken)
        expectNoDifference(logOut.history, ["failed network"])
        expectNoDifference(fixture.pool.status.sessions, 0)
    }

    @Test func aLogoutOfATokenThatIsDeadAlreadyIsDone() {
        let fixture = PoolFixture(answersAtOnce: false)
        _ = fixture.request()
        fixture.server.logIns[0].succeed(fixture.server.open())
        let logOut = fixture.pool.logOut().record(describe: { _ in "done" })
        fixture.server.logOuts[0].fail(.refused)
        expectNoDifference(logOut.history, ["done", "finished"])
    }

    @Test func aCancelledLogOutGoesOn() {
        let fixture = PoolFixture(answersAtOnce: false)
        _ = fixture.request()
        fixture.server.logIns[0].succeed(fixture.server.open())
        let logOut = fixture.pool.logOut().record(describe: { _ in "done" })
        logOut.cancel()
        fixture.server.logOuts[0].succeed(())
        expectNoDifference(logOut.history, [])
        expectNoDifference(fixture.pool.status.sessions, 0)
    }

    @Test func shutdownEndsEverythingAndRefusesTheRest() {
        let fixture = PoolFixture { $0.maximumSessions = 2 }
        let exchange = StubExchange<String>()
        let running = fixture.request(exchange)
        let done = NIOLockedValueBox(false)
        let shutdown = fixture.pool.shutdown().sink { _ in done.withLockedValue { $0 = true } }
        expectNoDifference(fixture.request().history, ["failed shutdown"])
        #expect(!done.withLockedValue { $0 })
        exchange.succeed("answer")
        expectNoDifference(running.history, ["answer", "finished"])
        #expect(done.withLockedValue { $0 })
        expectNoDifference(fixture.server.live, [])
        expectNoDifference(fixture.time.timers.count, 0)
        shutdown.cancel()
    }

    @Test func aVisitorHearsOfAShutdownThatGivesHisLoginUp() {
        let fixture = PoolFixture(answersAtOnce: false)
        let login = StubExchange<SessionToken>()
        let externalLogin = fixture.pool.logInExternally(login.eraseToAnyPublisher(), welcome: { nil }).record()
        let shutdown = fixture.pool.shutdown().sink { _ in }
        expectNoDifference(externalLogin.history, [])
        fixture.time.advance(by: .seconds(5))
        expectNoDifference(externalLogin.history, ["failed shutdown"])
        expectNoDifference(login.isCancelled, true)
        shutdown.cancel()
    }

    @Test func whoCancelsWhenTheValueComesIsNotToldOfTheEnd() {
        let fixture = PoolFixture()
        let login = StubExchange<SessionToken>()
        let externalLogin = Recorder<SessionToken>(
            describe: \.value,
            onValue: { externalLogin, _ in
                externalLogin.cancel()
                return .none
            }
        )
        fixture.pool.logInExternally(login.eraseToAnyPublisher(), welcome: { nil }).subscribe(externalLogin)
        login.succeed(SessionToken("T"))
        expectNoDifference(externalLogin.history, ["T"])
    }

    /// The observer is called outside of the pool's lock, so it may read the pool's status, and only once for the
    /// session.
    @Test func whatAClosedPoolHasLeftIsToldOutsideOfItsLock() {
        let server = StubServer(answersAtOnce: false)
        let known = NIOLockedValueBox<SessionPool?>(nil)
        let told = NIOLockedValueBox<[Int?]>([])
        let pool = SessionPool(
            authenticator: server.authenticator,
            time: TestClock().sessionTime,
            jitter: { 1 },
            observer: SessionObserver(left: { _ in
                let left = known.withLockedValue { $0 }?.status.sessionsLeft
                told.withLockedValue { $0.append(left) }
            })
        )
        known.withLockedValue { $0 = pool }
        _ = pool.authorized { lease in
            Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        }
        .record()
        server.logIns[0].succeed(server.open())
        pool.close()
        server.logOuts[0].fail(FMRest.APIError(.fileMaker, reason: "No", fileMakerCode: 500, httpStatus: 500))
        expectNoDifference(told.withLockedValue { $0 }, [1])
        let end = pool.shutdown().setFailureType(to: FMRest.APIError.self).record(describe: { "\($0)" })
        expectNoDifference(end.history, ["0", "finished"])
        expectNoDifference(told.withLockedValue { $0 }, [1])
        known.withLockedValue { $0 = nil }
    }

    /// Between a failed logout and its repetition nothing else refers to the pool, so it must keep itself alive.
    @Test func aPoolThatIsLetGoRepeatsItsLogout() {
        var fixture: PoolFixture? = PoolFixture(answersAtOnce: false)
        weak let pool = fixture?.pool
        guard let time = fixture?.time, let server = fixture?.server else { return }
        _ = fixture?.request()
        server.logIns[0].succeed(server.open())
        pool?.close()
        fixture = nil
        let broken = HTTPClientError(
            code: .connectionClosed,
            outcome: .unknown,
            origin: Origin(scheme: .https, host: "h")
        )
        server.logOuts[0].fail(FMRest.APIError(.network, reason: "closed", underlying: broken))
        time.advance(by: .seconds(2))
        expectNoDifference(server.logOuts.count, 2)
        server.logOuts[1].succeed(())
        #expect(pool == nil)
        expectNoDifference(time.timers.count, 0)
    }

    /// The next alarm was set for a waiting request, before the pool was closed. The pool must stay alive beyond it.
    @Test func aPoolThatIsLetGoRepeatsItsLogoutThoughAnotherAlarmComesFirst() {
        var fixture: PoolFixture? = PoolFixture(answersAtOnce: false) { $0.waitingDeadline = .seconds(1) }
        weak let pool = fixture?.pool
        guard let time = fixture?.time, let server = fixture?.server else { return }
        _ = fixture?.request()
        server.logIns[0].succeed(server.open())
        time.advance(by: .milliseconds(500))
        pool?.close()
        fixture = nil
        let broken = HTTPClientError(
            code: .connectionClosed,
            outcome: .unknown,
            origin: Origin(scheme: .https, host: "h")
        )
        server.logOuts[0].fail(FMRest.APIError(.network, reason: "closed", underlying: broken))
        time.advance(by: .milliseconds(500))
        time.advance(by: .milliseconds(500))
        expectNoDifference(server.logOuts.count, 2)
        server.logOuts[1].succeed(())
        #expect(pool == nil)
        expectNoDifference(time.timers.count, 0)
    }

    @Test func pinnedWorkRunsInOneSessionThatEndsWithIt() {
        let fixture = PoolFixture()
        let exchange = StubExchange<String>()
        let seen = NIOLockedValueBox("")
        let work = fixture.pool.pinned { lease in
            seen.withLockedValue { $0 = lease.token.value }
            return exchange.eraseToAnyPublisher()
        }
        .record()
        let other = fixture.request()
        exchange.send("globals set")
        exchange.succeed("found")
        expectNoDifference(work.history, ["globals set", "found", "finished"])
        expectNoDifference(seen.withLockedValue { $0 }, "T1")
        expectNoDifference(fixture.server.loggedOut, ["T1"])
        expectNoDifference(other.history, ["T2", "finished"])
    }

    @Test func aLostPinnedSessionIsAnErrorThatSaysSoAndNoReplay() {
        let fixture = PoolFixture()
        let runs = NIOLockedValueBox(0)
        let work = fixture.pool.pinned { lease -> AnyPublisher<String, FMRest.APIError> in
            runs.withLockedValue { $0 += 1 }
            return Fail(error: lease.lostSession(.refused)).eraseToAnyPublisher()
        }
        .record()
        expectNoDifference(work.history, ["failed sessionLost 952"])
        expectNoDifference(runs.withLockedValue { $0 }, 1)
        expectNoDifference(fixture.server.loggedOut, ["T1"])
    }

    @Test func anotherDatabasesRefusalDoesNotCountForThePinnedSession() {
        let fixture = PoolFixture()
        let work = fixture.pool.pinned { _ -> AnyPublisher<String, FMRest.APIError> in
            Fail(error: .refused).eraseToAnyPublisher()
        }
        .record()
        expectNoDifference(work.history, ["failed fileMaker 952"])
        expectNoDifference(fixture.pool.status.refusals, 0)
        expectNoDifference(fixture.server.loggedOut, ["T1"])
    }

    @Test func onlyWhatEndsTheSessionIsALostSession() {
        let lease = SessionLease(
            id: .of(1),
            session: .of(1),
            epoch: .of(1),
            token: SessionToken("T"),
            hasWorked: true
        )
        let errors: [FMRest.APIError] = [.refused, .windowMissing, .broken, .hostFull, lease.lostSession(.refused)]
        expectNoDifference(
            errors.map { lease.lostSession($0).code },
            [.sessionLost, .sessionLost, .network, .fileMaker, .sessionLost]
        )
    }

    @Test func aTokenThatCannotBeRenewedEndsInAnErrorThatSaysSo() {
        let time = TestClock()
        let server = StubServer()
        let gate = CredentialsGate(
            provider: .fixed(.init(token: "T1")),
            place: "the test",
            lockOutCoolDown: .seconds(300),
            now: { time.deadline }
        )
        let pool = SessionPool(
            authenticator: SessionAuthenticator(
                gate: gate,
                logIn: { _ in server.authenticator.logIn() },
                logOut: server.authenticator.logOut
            ),
            time: time.sessionTime,
            jitter: { 1 }
        )
        pool.adopt(server.open(), isOwned: false)
        let request = pool.authorized { lease -> AnyPublisher<String, FMRest.APIError> in
            server.knows(lease.token)
                ? Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                : Fail(error: .refused).eraseToAnyPublisher()
        }
        expectNoDifference(request.record().history, ["T1", "finished"])
        server.forgetAll()
        expectNoDifference(request.record().history, ["failed unauthorized"])
        expectNoDifference(server.logInCount, 1)
    }

    @Test func cancelledPinnedWorkLogsItsSessionOut() {
        let fixture = PoolFixture()
        let exchange = StubExchange<String>()
        let work = fixture.pool.pinned { _ in exchange.eraseToAnyPublisher() }.record()
        work.cancel()
        #expect(exchange.isCancelled)
        expectNoDifference(fixture.server.loggedOut, ["T1"])
    }

    @Test func otherCredentialsGetOtherSessions() {
        let fixture = PoolFixture()
        _ = fixture.request()
        fixture.replaceCredentials()
        expectNoDifference(fixture.server.loggedOut, ["T1"])
        expectNoDifference(fixture.request().history, ["T2", "finished"])
    }

    @Test func anAdoptedTokenSavesTheLogin() {
        let fixture = PoolFixture()
        fixture.pool.adopt(fixture.server.open(), isOwned: true)
        expectNoDifference(fixture.request().history, ["T1", "finished"])
        expectNoDifference(fixture.server.logInCount, 1)
        expectNoDifference(fixture.transitions, ["logged in T1"])
    }

    @Test func theStatusFollowsTheSessions() {
        let fixture = PoolFixture(answersAtOnce: false)
        let seen = NIOLockedValueBox<[String]>([])
        let watch = fixture.pool.statusPublisher.sink { status in
            seen.withLockedValue { $0.append(status.description) }
        }
        _ = fixture.request()
        fixture.server.logIns[0].succeed(fixture.server.open())
        expectNoDifference(
            seen.withLockedValue { $0 },
            [
                "0 of 1 sessions, 0 leased, 0 logging in, 0 waiting; 0 logins, 0 failed, 0 refusals, 0 logouts",
                "0 of 1 sessions, 0 leased, 1 logging in, 1 waiting; 0 logins, 0 failed, 0 refusals, 0 logouts",
                "1 of 1 sessions, 1 leased, 0 logging in, 0 waiting; 1 logins, 0 failed, 0 refusals, 0 logouts",
                "1 of 1 sessions, 0 leased, 0 logging in, 0 waiting; 1 logins, 0 failed, 0 refusals, 0 logouts",
            ]
        )
        watch.cancel()
    }

    @Test func theExpiryIsToldInTheTimeOfTheWallClock() {
        let fixture = PoolFixture()
        expectNoDifference(fixture.pool.status.expires, nil)
        _ = fixture.request()
        let first = fixture.time.date(of: fixture.time.deadline + .minutes(15))
        expectNoDifference(fixture.pool.status.expires, first)
        #expect(fixture.pool.status.isActive(at: first.addingTimeInterval(-1)))
        #expect(!fixture.pool.status.isActive(at: first))

        let seen = NIOLockedValueBox<[Date?]>([])
        let watch = fixture.pool.statusPublisher.sink { status in
            seen.withLockedValue { if $0.last != status.expires { $0.append(status.expires) } }
        }
        time(fixture, .seconds(60))
        _ = fixture.request()
        expectNoDifference(seen.withLockedValue { $0 }, [first, first.addingTimeInterval(60)])
        // A session in use is active, however long its answer takes.
        let exchange = StubExchange<String>()
        let running = fixture.request(exchange)
        time(fixture, .hours(1))
        #expect(fixture.pool.status.isActive(at: fixture.time.date))
        running.cancel()
        watch.cancel()
    }

    @Test func loginsAreExpiriesAndColdStarts() {
        let fixture = PoolFixture()
        var random = SeededRandom(seed: 7)
        var expected = 1
        _ = fixture.request()
        for _ in 0..<2_000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                fixture.server.forgetAll()
                expected += 1
                expectNoDifference(fixture.request().history, ["T\(expected)", "finished"])
            case 1:
                time(fixture, .seconds(900))
                expected += 1
                expectNoDifference(fixture.request().history, ["T\(expected)", "finished"])
            default:
                time(fixture, .seconds(60))
                expectNoDifference(fixture.request().history, ["T\(expected)", "finished"])
            }
        }
        fixture.pool.close()
        expectNoDifference(fixture.server.live, [])
        expectNoDifference(fixture.pool.status.logins, expected)
    }

    private func time(_ fixture: PoolFixture, _ amount: TimeAmount) {
        fixture.time.advance(by: amount)
    }
}
