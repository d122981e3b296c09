import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Many requests at once: each ends once, no write is lost or made twice, and no session is left open.
@Suite(.timeLimit(.minutes(15))) struct SessionLoadTests {
    // MARK: One login, many sessions

    @Test func aThousandSubscribersOfAColdDatabaseCauseOneLogin() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 1 }) { world in
            let count = Effort.of(1000, brief: 150)
            let tally = await Tally(of: (0..<count).map { _ in read(world) })
            expectNoDifference(tally.succeeded, count)
            expectNoDifference(world.sandbox.counters.requests[.login], 1)
            expectNoDifference(world.database.sessionStatus.waiting, 0)
        }
    }

    /// Each of eight scripts waits for the other seven, so they end only if eight sessions work at the same time.
    @Test func aPoolOfEightWorksInEightSessionsAtOnce() async throws {
        let present = Locked(0)
        let allThere = Gate()
        var solution = Solution.sample
        solution.addScript("Meet") { _ in
            present.change { count in
                count += 1
                if count == 8 { allThere.open() }
            }
            await allThere.wait()
            return .result("met")
        }
        let sandbox = try await Sandbox.start([solution], configuration: .init { $0.keepAlive = .seconds(600) })
        var config = DataAPI.Config.patient
        config.sessions.maximumSessions = 8
        let database = DataAPI.Server(host: sandbox.url, config: config).addDatabase(
            solution.name,
            credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
        )
        let meeting = database.addLayout("Contacts").runScript("Meet").map { _ in () }
        let tally = await Tally(of: (0..<8).map { _ in meeting.eraseToAnyPublisher() })
        expectNoDifference(tally.succeeded, 8)
        expectNoDifference(sandbox.counters.openSessions, 8)
        let ended = await database.logOut().awaitSingleResult()
        expectNoDifference(ended.failure?.code, nil)
        expectNoDifference(sandbox.counters.openSessions, 0)
        expectNoDifference(sandbox.counters.logouts, 8)
        await sandbox.stop()
    }

    @Test func aRefusedPasswordReachesEveryWaiterAndIsTriedOnce() async throws {
        let wrong = Credentials(user: Solution.Sample.user, password: "wrong")
        try await World.run(credentials: wrong, client: { $0.sessions.maximumSessions = 8 }) { world in
            let tally = await Tally(of: (0..<200).map { _ in read(world) })
            expectNoDifference(tally.errors.map(\.fileMakerCode), Array(repeating: .invalidAccount, count: 200))
            expectNoDifference(world.sandbox.counters.requests[.login], 1)
            expectNoDifference(world.database.credentials, .invalid)
        }
    }

    /// Uses the default limit of sessions. Three calls wait for each other, so the pool has to grow to three; the host
    /// has room for no more, and the three sessions serve all other calls.
    @Test(.thorough) func aHostWithRoomForThreeServesTwoHundredAtOnce() async throws {
        let present = Locked(0)
        let allThere = Gate()
        var solution = Solution.sample
        solution.addScript("Meet") { _ in
            present.change { count in
                count += 1
                if count == 3 { allThere.open() }
            }
            await allThere.wait()
            return .result("met")
        }
        let sandbox = try await Sandbox.start(
            [solution],
            configuration: .init {
                $0.maximumSessions = 3
                $0.keepAlive = .seconds(600)
            }
        )
        var config = DataAPI.Config.patient
        // The pauses are so long that no second attempt is made at some moment during the test.
        config.sessions.minimumBackOff = .seconds(3600)
        config.sessions.maximumBackOff = .seconds(3600)
        let database = DataAPI.Server(host: sandbox.url, config: config).addDatabase(
            solution.name,
            credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
        )
        let contacts = database.addLayout("Contacts")
        let meeting = contacts.runScript("Meet").map { _ in () }.eraseToAnyPublisher()
        let record = contacts.record(id: 1).returnAs(FieldData.self).map { _ in () }.eraseToAnyPublisher()
        let tally = await Tally(of: (0..<200).map { $0 < 3 ? meeting : record })
        expectNoDifference(tally.succeeded, 200)
        let status = database.sessionStatus
        expectNoDifference([status.limit, status.sessions, status.logins], [3, 3, 3])
        // As many logins may be under way at once as there are sessions, and all of those beyond the third are refused.
        #expect((1...3).contains(status.failedLogins))
        expectNoDifference(sandbox.counters.openSessions, 3)
        expectNoDifference(sandbox.counters.logins, 3)
        _ = try await database.logOut().firstValue()
        expectNoDifference(sandbox.counters.openSessions, 0)
        await sandbox.stop()
    }

    @Test(arguments: [9, 10])
    func aHostThatIsFullManyTimesInARowIsWaitedFor(refusals: Int) async throws {
        try await World.run(client: {
            $0.sessions.minimumBackOff = .milliseconds(1)
            $0.sessions.maximumBackOff = .milliseconds(5)
            $0.sessions.fullHostDeadline = .seconds(3600)
        }) { world in
            for _ in 0..<refusals { world.sandbox.inject(.fullHost, on: .login) }
            _ = try await read(world).firstValue()
            expectNoDifference(world.database.sessionStatus.failedLogins, refusals)
            expectNoDifference(world.database.sessionStatus.logins, 1)
        }
    }

    /// The error of every waiting request has the host's code and says what to do.
    @Test(arguments: [956, 812])
    func aHostWithoutRoomIsToldToEveryWaiter(code: Int) async throws {
        try await World.run(
            sandbox: { ($0.maximumSessions, $0.sessionLimitCode) = (0, code) },
            client: { $0.sessions.fullHostDeadline = .milliseconds(20) }
        ) { world in
            let tally = await Tally(of: (0..<20).map { _ in read(world) })
            expectNoDifference(tally.errors.count, 20)
            let error = try #require(tally.errors.first)
            expectNoDifference(error.fileMakerCode?.rawValue, code)
            expectNoDifference(Set(tally.errors.map(\.reason)), [error.reason])
            #expect(error.isRetryable && !error.outcomeIsUnknown)
            #expect(error.reason.contains("at its limit of sessions"), "\(error)")
            #expect(error.reason.contains("\(code)"), "\(error)")
            #expect(error.reason.contains("holds 0 sessions of it, and would open up to 8"), "\(error)")
            #expect(error.hint?.contains("Admin Console") == true, "\(error)")
        }
    }

    @Test(.thorough) func aHostWithRoomForTwoServesAPoolOfEight() async throws {
        try await World.run(
            sandbox: { $0.maximumSessions = 2 },
            client: {
                $0.sessions.maximumSessions = 8
                $0.sessions.minimumBackOff = .milliseconds(1)
                $0.sessions.maximumBackOff = .milliseconds(5)
            }
        ) { world in
            let tally = await Tally(of: (0..<200).map { _ in read(world) })
            expectNoDifference(tally.succeeded, 200)
            expectNoDifference(world.sandbox.counters.logins, 2)
            #expect(world.sandbox.counters.failedLogins > 0)
        }
    }

    // MARK: Sessions that end during requests

    @Test(.thorough, arguments: [1, 2, 3] as [UInt64])
    func tokensThatDieUnderManyWritesLoseNoneAndDoubleNone(seed: UInt64) async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 4 }) { world in
            var random = SeededRandom(seed: seed)
            // Never two in a row: a server that refuses its own new tokens is the subject of other tests.
            for number in 0..<15 {
                let passed = number * 9 + Int.random(in: 0..<2, using: &random)
                world.sandbox.inject(.expireToken, on: .createRecord, skipping: passed)
            }
            let tally = await Tally(of: (0..<200).map { write($0, world) })
            expectNoDifference(world.sandbox.counters.executedWrites, tally.succeeded)
            expectNoDifference(tally.unknown, 0)
            // A request whose second token is refused as well fails with that error, and its write was not executed.
            expectNoDifference(
                tally.errors.filter { $0.fileMakerCode != .invalidToken && $0.code != .tokensRefused }.count,
                0
            )
            expectNoDifference(tally.succeeded + tally.errors.count, 200)
            #expect(tally.succeeded >= 190)
        }
    }

    @Test func aRestartUnderManyWritesLosesNoneAndDoublesNone() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 4 }) { world in
            let progress = Locked((acknowledged: 0, hasRestarted: false))
            let sandbox = world.sandbox
            let writes = (0..<200).map { number in
                write(number, world)
                    .handleEvents(receiveOutput: { _ in
                        var restarts = false
                        progress.change { progress in
                            progress.acknowledged += 1
                            restarts = progress.acknowledged >= 60 && !progress.hasRestarted
                            if restarts { progress.hasRestarted = true }
                        }
                        if restarts { sandbox.restart() }
                    })
                    .eraseToAnyPublisher()
            }
            let tally = await Tally(of: writes)
            #expect(progress.value.hasRestarted)
            let executed = sandbox.counters.executedWrites
            #expect((tally.succeeded...tally.succeeded + tally.unknown).contains(executed))
            // One request is under way in each session.
            #expect(tally.errors.count <= 4, "\(tally.errors)")
            expectNoDifference(tally.succeeded + tally.errors.count, 200)
        }
    }

    // MARK: All faults together

    /// Expiries, refused logins, restarts, broken connections and cancellations at random. `FMDATA_LOAD` sets the
    /// number of requests for a measurement; by default the test is short.
    @Test(.thorough, .timeLimit(.minutes(20))) func faultsOfAllKindsUnderLoad() async throws {
        let total = Int(ProcessInfo.processInfo.environment["FMDATA_LOAD"] ?? "") ?? 2000
        let (batch, maximumSessions) = (500, 8)
        try await World.run(client: {
            $0.sessions.maximumSessions = maximumSessions
            $0.sessions.minimumBackOff = .milliseconds(1)
            $0.sessions.maximumBackOff = .milliseconds(10)
        }) { world in
            var random = SeededRandom(seed: 7)
            var tally = Tally()
            var (expiries, restarts) = (0, 0)
            let begin = ContinuousClock.now
            for first in stride(from: 0, to: total, by: batch) {
                for fault in Self.faults {
                    let hitsWrite = Bool.random(using: &random)
                    let passed = Int.random(in: 0..<(hitsWrite ? batch / 4 : batch * 3 / 4), using: &random)
                    world.sandbox.inject(fault, on: hitsWrite ? .createRecord : .getRecord, skipping: passed)
                    if fault == .expireToken { expiries += 1 }
                }
                // A login that the server executed and whose answer is lost leaves a session that the client cannot
                // close. So logins are refused, but their answers are not cut off. The first ones succeed: without any
                // session all requests would fail at once.
                let loginFault = Self.loginFaults[first / batch % Self.loginFaults.count]
                world.sandbox.inject(loginFault, on: .login, skipping: maximumSessions)
                let isRestarted = first / batch % 4 == 1
                if isRestarted { restarts += 1 }
                let plan = Batch(
                    numbers: first..<first + batch,
                    restartAfter: isRestarted ? Int.random(in: 0..<batch / 2, using: &random) : nil,
                    cancelled: Set((0..<10).map { _ in first + Int.random(in: 0..<batch, using: &random) })
                )
                tally.add(await run(plan, world))
            }
            world.sandbox.clearFaults()
            let duration = ContinuousClock.now - begin

            // Each request ended once.
            expectNoDifference(tally.succeeded + tally.errors.count + tally.cancelled, total)
            #expect(tally.succeeded > total / 2)
            let status = world.database.sessionStatus
            expectNoDifference([status.leased, status.waiting], [0, 0])
            // The server executed every acknowledged write, and an unknown part of those that were cancelled or failed
            // with an unknown outcome.
            let writes = tally.acknowledgedWrites
            let executed = world.sandbox.counters.executedWrites
            #expect((writes...writes + tally.unknown + tally.cancelledWrites).contains(executed))

            // No session is left open.
            _ = try await world.database.logOut().firstValue()
            let counters = world.sandbox.counters
            expectNoDifference(counters.openSessions, 0)
            // A session that the server opened and the client did not log out has ended by expiry or in a restart.
            let deaths = counters.logins - counters.logouts
            #expect(deaths <= expiries + restarts * maximumSessions)
            // One login replaces each session that ended that way. Beyond these there are only the first sessions,
            // those open at the end, and the logins that a restart interrupted, whose success the client does not
            // learn.
            #expect((deaths...deaths + maximumSessions * (1 + restarts)).contains(counters.logins))
            let last = world.database.sessionStatus
            #expect((0...maximumSessions * restarts).contains(counters.logins - last.logins))
            expectNoDifference(last.sessions, 0)
            // The client's own counters: a session ends by a refusal or by a logout.
            expectNoDifference(last.logins, last.refusals + last.logouts)
            #expect(last.refusals > 0)
            #expect(last.refusals <= deaths)

            if ProcessInfo.processInfo.environment["FMDATA_LOAD"] != nil {
                print(
                    """
                    \(total) requests in \(duration): \(tally.succeeded) answered, \(tally.errors.count) failed, \
                    \(tally.cancelled) cancelled; writes: \(executed) executed, \(writes) acknowledged, \
                    \(tally.unknown) reported unknown, \(tally.cancelledWrites) cancelled; \(expiries) expiries and \
                    \(restarts) restarts ordered, \(deaths) sessions died; server: \(counters.logins) logins, \
                    \(counters.logouts) logouts, \(counters.failedLogins) refused; client: \(last)
                    """
                )
            }
        }
    }

    private struct Batch {
        var numbers: Range<Int>
        /// The server restarts after this many answers.
        var restartAfter: Int?
        var cancelled: Set<Int>
    }

    /// Makes all requests of the batch at once; every fourth is a write.
    private func run(_ batch: Batch, _ world: World) async -> Tally {
        let answered = Locked(0)
        let sandbox = world.sandbox
        let requests = batch.numbers.map { number in
            let isWrite = number.isMultiple(of: 4)
            let request = isWrite ? write(number, world) : comparison(world)
            return Tally.Request(
                publisher:
                    request
                    .handleEvents(receiveOutput: { _ in
                        var restarts = false
                        answered.change {
                            $0 += 1
                            restarts = $0 == batch.restartAfter
                        }
                        if restarts { sandbox.restart() }
                    })
                    .eraseToAnyPublisher(),
                isWrite: isWrite,
                isCancelled: batch.cancelled.contains(number)
            )
        }
        return await Tally(of: requests)
    }

    private static let faults: [Sandbox.Fault] = [
        .expireToken, .expireToken, .expireToken, .cut(afterBodyBytes: 10), .reset, .resetAfterExecution,
        .html(status: 502), .empty(status: 503), .brokenJSON,
    ]

    private static let loginFaults: [Sandbox.Fault] = [.fullHost, .html(status: 503), .reset]

    /// A measurement of how much faster eight sessions are than one. There are enough requests for the time in which
    /// the pool grows to count little. Not part of a test run, since it measures time.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["FMDATA_LOAD"] != nil))
    func eightSessionsAreFasterThanOne() async throws {
        var times: [Duration] = []
        for sessions in [1, 8] {
            try await World.run(
                sandbox: { $0.latency = .milliseconds(20) },
                client: { $0.sessions.maximumSessions = sessions }
            ) { world in
                let begin = ContinuousClock.now
                let tally = await Tally(of: (0..<320).map { _ in read(world) })
                times.append(ContinuousClock.now - begin)
                expectNoDifference(tally.succeeded, 320)
            }
        }
        print("320 finds: \(times[0]) in one session, \(times[1]) in eight, \(times[0] / times[1]) times as fast")
        #expect(times[0] / times[1] >= 6)
    }

    // MARK: Requests

    private func read(_ world: World) -> AnyPublisher<Void, FMRest.APIError> {
        world.contacts.findRecords(query: FindQuery(query: [["Name": "Ada"]], limit: 1)).returnAs(FieldData.self)
            .map { _ in () }
            .eraseToAnyPublisher()
    }

    /// A read whose duration does not depend on the number of records.
    private func comparison(_ world: World) -> AnyPublisher<Void, FMRest.APIError> {
        world.contacts.record(id: 1).returnAs(FieldData.self)
            .map { _ in () }
            .eraseToAnyPublisher()
    }

    private func write(_ number: Int, _ world: World) -> AnyPublisher<Void, FMRest.APIError> {
        let record: FieldData = ["Name": .text("Newcomer \(number)")]
        return world.contacts.createRecord(record: EditRecord(createRecord: record))
            .map { _ in () }
            .eraseToAnyPublisher()
    }

    @Test(.tags(.earlierClients))
    func manyRefusalsAtOnceAreOneLoginAndNoSessionIsLeftBehind() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 4 }) { world in
            func all() async throws {
                let subscribers = (0..<50).map { _ in
                    let subscriber = TrackingSubscriber<
                        DataAPI.RecordResponse<FieldData, EmptyPortal>, FMRest.APIError
                    >()
                    world.countries.getRecords(recordQuery: RecordQuery(limit: 1)).subscribe(subscriber)
                    return subscriber
                }
                for subscriber in subscribers { _ = await subscriber.completion() }
                expectNoDifference(subscribers.filter { $0.values.count == 1 }.count, 50)
            }
            try await all()
            let logins = world.sandbox.counters.logins
            world.sandbox.expireSessions()
            try await all()
            #expect(world.sandbox.counters.logins - logins <= 4, "at most one for each session of the pool")
        }
    }
}

/// How requests ended that were made at the same moment.
private struct Tally {
    struct Request {
        var publisher: AnyPublisher<Void, FMRest.APIError>
        var isWrite = false
        /// Whether it is cancelled once all requests of the tally have been subscribed to.
        var isCancelled = false
    }

    var succeeded = 0
    var errors: [FMRest.APIError] = []
    var cancelled = 0
    var acknowledgedWrites = 0
    var cancelledWrites = 0

    /// The number of errors that leave open whether the server executed the request.
    var unknown: Int { errors.count(where: \.outcomeIsUnknown) }

    init() {}

    init(of publishers: [AnyPublisher<Void, FMRest.APIError>]) async {
        await self.init(of: publishers.map { Request(publisher: $0) })
    }

    /// Subscribes to all requests, then waits for all, and checks that each ended once, with a value or an error.
    init(of requests: [Request]) async {
        typealias Subscriber = TrackingSubscriber<Void, FMRest.APIError>
        let all = requests.map { request in
            let subscriber = Subscriber()
            request.publisher.subscribe(subscriber)
            return (request, subscriber)
        }
        for (request, subscriber) in all where request.isCancelled {
            subscriber.cancel()
            cancelled += 1
            if request.isWrite { cancelledWrites += 1 }
        }
        for (request, subscriber) in all where !request.isCancelled { await subscriber.completion() }
        for (request, subscriber) in all {
            let ends = subscriber.history.count { if case .completion = $0 { true } else { false } }
            #expect(ends == 1 || (ends == 0 && request.isCancelled))
            if request.isCancelled { continue }
            switch subscriber.completionIfAny {
            case .finished:
                #expect(subscriber.values.count == 1)
                succeeded += 1
                if request.isWrite { acknowledgedWrites += 1 }
            case .failure(let error):
                #expect(subscriber.values.isEmpty)
                errors.append(error)
            case nil:
                Issue.record("A request did not end")
            }
        }
    }

    mutating func add(_ other: Tally) {
        succeeded += other.succeeded
        errors += other.errors
        cancelled += other.cancelled
        acknowledgedWrites += other.acknowledgedWrites
        cancelledWrites += other.cancelledWrites
    }
}
