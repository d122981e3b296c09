import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Databases that share a number of sessions.
@Suite(.timeLimit(.minutes(5))) struct SessionBudgetTests {
    /// Databases of different server objects, as if they were in different processes.
    private func databases(
        _ count: Int,
        on sandbox: Sandbox,
        sharing budget: DataAPI.SessionBudget,
        password: String = Solution.Sample.password
    ) -> [DataAPI.Database] {
        (0..<count).map { _ in
            // Where many tests run at once, a call takes its time.
            var config = DataAPI.Config.patient
            config.sessions.budget = budget
            config.sessions.waitingDeadline = .seconds(600)
            return DataAPI.Server(host: sandbox.url, config: config)
                .addDatabase("World", credentials: Credentials(user: Solution.Sample.user, password: password))
        }
    }

    private func read(_ database: DataAPI.Database) async throws {
        _ = try await database.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
    }

    @Test(.thorough) func manyDatabasesOpenNoMoreSessionsThanTheBudgetHas() async throws {
        let sandbox = try await Sandbox.start([.sample], configuration: .patient)
        let databases = databases(6, on: sandbox, sharing: .memory(slots: 2))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for database in databases {
                for _ in 0..<12 { group.addTask { try await read(database) } }
            }
            try await group.waitForAll()
        }
        expectNoDifference(sandbox.counters.mostOpenSessions <= 2, true)
        expectNoDifference(sandbox.counters.logins <= 2, true)
        for database in databases {
            expectNoDifference(database.sessionStatus.failedLogins, 0)
            _ = try await database.server.shutdown().firstValue()
        }
        // The tokens stay with the slots.
        expectNoDifference(sandbox.counters.logouts, 0)
        await sandbox.stop()
    }

    @Test(.thorough) func aSessionIsPassedOnWithItsToken() async throws {
        let sandbox = try await Sandbox.start([.sample], configuration: .patient)
        let databases = databases(3, on: sandbox, sharing: .memory(slots: 1))
        for database in databases + databases { try await read(database) }
        expectNoDifference(sandbox.counters.logins, 1)
        expectNoDifference(sandbox.counters.mostOpenSessions, 1)
        await sandbox.stop()
    }

    @Test(.thorough) func aTokenThatTheHostRefusesIsReplacedInItsSlot() async throws {
        let sandbox = try await Sandbox.start([.sample], configuration: .patient)
        let databases = databases(2, on: sandbox, sharing: .memory(slots: 1))
        try await read(databases[0])
        sandbox.expireSessions()
        try await read(databases[1])
        try await read(databases[0])
        expectNoDifference(sandbox.counters.logins, 2)
        await sandbox.stop()
    }

    @Test(.thorough) func pinnedWorkHasASlotOfItsOwnAndLeavesItEmpty() async throws {
        let sandbox = try await Sandbox.start([.sample], configuration: .patient)
        let databases = databases(2, on: sandbox, sharing: .memory(slots: 1))
        try await read(databases[0])
        for database in databases {
            try await database.withSession { session in try await read(session) }
        }
        // The last logout is not awaited by the work.
        await until { sandbox.counters.openSessions == 0 }
        try await read(databases[0])
        expectNoDifference(sandbox.counters.mostOpenSessions, 1)
        await sandbox.stop()
    }

    @Test func logOutClosesTheSessionAndTheSlotIsEmpty() async throws {
        let sandbox = try await Sandbox.start([.sample], configuration: .patient)
        let databases = databases(2, on: sandbox, sharing: .memory(slots: 1))
        try await read(databases[0])
        _ = try await databases[0].logOut().firstValue()
        expectNoDifference(sandbox.counters.openSessions, 0)
        try await read(databases[1])
        expectNoDifference(sandbox.counters.logins, 2)
        await sandbox.stop()
    }

    @Test func aCallThatWaitsForASlotInVainSaysSo() async {
        let budget = DataAPI.SessionBudget.memory(slots: 1)
        let first = PoolFixture(storeKey: .sample) { $0.budget = budget }
        let lease = await first.lease()
        let second = PoolFixture(storeKey: .sample) { $0.budget = budget }
        let error = Locked<FMRest.APIError?>(nil)
        let waiting = second.pool.lease().sink(
            receiveCompletion: { end in if case .failure(let failure) = end { error.change { $0 = failure } } },
            receiveValue: { _ in }
        )
        second.time.advance(by: .seconds(30))
        expectNoDifference(error.value?.code, .timeout)
        #expect(error.value?.reason.contains("waited for a slot of the budget") == true)
        waiting.cancel()
        first.pool.release(lease, .used)
    }

    // MARK: Budgets of another kind

    @Test func aTokenThatCannotBePutIsLoggedOut() async {
        let calls = Calls()
        let fixture = PoolFixture(storeKey: .sample) { $0.budget = calls.budget { $0.put = { _ in false } } }
        let lease = await fixture.lease()
        await until { calls.made.contains("put T1") }
        fixture.pool.release(lease, .used)
        await until { fixture.server.loggedOut == ["T1"] }
        // The slot is somebody else's.
        expectNoDifference(calls.made, ["take", "put T1"])
    }

    /// It is not known whether the token is in the slot, so the session may be somebody else's soon.
    @Test func aRecalledSlotWhosePutIsNotAnsweredIsGivenWithItsSession() async {
        struct NoAnswer: Error {}
        let calls = Calls()
        let put = Locked<CheckedContinuation<Bool, any Error>?>(nil)
        let fixture = PoolFixture(storeKey: .sample) {
            $0.budget = calls.budget {
                $0.put = { _ in try await withCheckedThrowingContinuation { answer in put.change { $0 = answer } } }
            }
        }
        fixture.pool.release(await fixture.lease(), .used)
        await until { put.value != nil }
        calls.tell(.recalled)
        fixture.time.advance(by: .seconds(1))
        expectNoDifference(calls.made, ["take", "put T1"])
        put.value?.resume(throwing: NoAnswer())
        await until { calls.made == ["take", "put T1", "give"] }
        expectNoDifference(fixture.server.loggedOut, [])
        expectNoDifference(fixture.pool.status.storeFailures, 1)
    }

    @Test func anInvalidTokenOfASlotIsNotSent() async {
        let calls = Calls()
        let fixture = PoolFixture(storeKey: .sample) { $0.budget = calls.budget { $0.token = "two words" } }
        let lease = await fixture.lease()
        expectNoDifference(lease.token.value, "T1")
    }

    @Test func aBudgetThatFailsFailsTheCallsThatWait() async {
        struct Broken: Error {}
        let calls = Calls()
        let fixture = PoolFixture(storeKey: .sample) { $0.budget = calls.budget { $0.failure = Broken() } }
        let request = fixture.request()
        await until { request.isEnded }
        expectNoDifference(request.history, ["failed sessionBudget"])
        expectNoDifference(fixture.pool.status.storeFailures, 1)
        expectNoDifference(fixture.server.logInCount, 0)
    }

    @Test func credentialsThatWereRefusedElsewhereAreNotSent() async {
        let calls = Calls()
        let refusal = DataAPI.SessionBudget.CredentialsRefused(code: 212)
        let fixture = PoolFixture(storeKey: .sample) { $0.budget = calls.budget { $0.failure = refusal } }
        let request = fixture.request()
        await until { request.isEnded }
        expectNoDifference(request.history, ["failed unauthorized 212"])
        expectNoDifference(fixture.pool.status.storeFailures, 0)
        expectNoDifference(fixture.transitions, ["lost 212"])
    }

    @Test func aLoginWithoutAnIdentityNeedsNoSlot() async {
        let calls = Calls()
        let fixture = PoolFixture { $0.budget = calls.budget() }
        expectNoDifference(fixture.request().history, ["T1", "finished"])
        expectNoDifference(calls.made, [])
    }

    @Test func aShutdownWaitsUntilTheSlotsAreGivenBack() async {
        let calls = Calls()
        let fixture = PoolFixture(storeKey: .sample) { $0.budget = calls.budget() }
        fixture.pool.release(await fixture.lease(), .used)
        let end = fixture.pool.shutdown().setFailureType(to: FMRest.APIError.self).record()
        await until { end.isEnded }
        expectNoDifference(calls.made, ["take", "put T1", "give"])
        expectNoDifference(fixture.server.loggedOut, [])
    }

    @Test func aDumpOfASlotShowsNoToken() {
        let request = DataAPI.SessionBudget.Request(key: .sample, member: .init(), tell: { _ in })
        let slot = DataAPI.SessionBudget.Slot(for: request, number: 2, lease: "l", token: "canary")
        expectNoDifference("\(slot)", "Slot(2)")
        var text = ""
        dump(slot, to: &text)
        #expect(!text.contains("canary"))
    }
}

/// A budget that grants every slot at once, and records its calls.
private final class Calls: Sendable {
    struct Answers: Sendable {
        var token: String?
        var failure: (any Error)?
        var put: @Sendable (String) async throws -> Bool = { _ in true }
    }

    private let calls = NIOLockedValueBox<[String]>([])
    private let holder = NIOLockedValueBox<DataAPI.SessionBudget.Request?>(nil)

    /// Tells the last one that took a slot.
    func tell(_ event: DataAPI.SessionBudget.Event) { holder.withLockedValue { $0 }?.tell(event) }

    var made: [String] { calls.withLockedValue { $0 } }

    func budget(_ change: (inout Answers) -> Void = { _ in }) -> DataAPI.SessionBudget {
        var changed = Answers()
        change(&changed)
        let answers = changed
        let note: @Sendable (String) -> Void = { [self] call in calls.withLockedValue { $0.append(call) } }
        return DataAPI.SessionBudget(
            take: { [self] request in
                note("take")
                holder.withLockedValue { $0 = request }
                if let failure = answers.failure { throw failure }
                return .init(for: request, number: 1, lease: "1", token: answers.token)
            },
            put: { token, _, _ in
                note("put \(token)")
                return try await answers.put(token)
            },
            drop: { token, _ in
                note("drop \(token)")
                return true
            },
            give: { _, _ in note("give") },
            full: { _ in note("full") },
            refused: { _, _ in note("refused") }
        )
    }
}

extension DataAPI.TokenStore.Key {
    fileprivate static let sample = DataAPI.TokenStore.Key(host: "h", database: "d", identity: "ada")
}

extension PoolFixture {
    /// A lease, when it has been granted.
    fileprivate func lease() async -> SessionLease {
        let (leases, granted) = AsyncStream.makeStream(of: SessionLease.self)
        pool.lease().subscribe(
            Recorder<SessionLease>(onValue: { _, lease in
                granted.yield(lease)
                return .none
            })
        )
        for await lease in leases { return lease }
        fatalError("The stream is never finished")
    }
}
