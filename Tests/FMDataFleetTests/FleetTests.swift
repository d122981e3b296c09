import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataFleet

/// Members that share sessions through a real store.
@Suite(.needsStore, .timeLimit(.minutes(10)))
struct FleetTests {
    /// The host allows as many sessions as the fleet has slots: one more would be refused.
    private func withHost(
        sessions: Int = 4,
        _ body: (StoreServer, Sandbox) async throws -> Void
    ) async throws {
        try await StoreServer.run { store in
            var configuration = Sandbox.Configuration.patient
            configuration.maximumSessions = sessions
            let host = try await Sandbox.start([.sample], configuration: configuration)
            try await body(store, host)
            await host.stop()
        }
    }

    /// It ends when a test ends it.
    private static let grace = 3_600_000

    /// Reads, although nothing is granted in a new pool until the test ends the time of grace. Returns when the token
    /// is in the store.
    private func readAfterGrace(_ member: TestFleet, _ pool: StoredPool) async throws {
        async let read: Void = member.read()
        try await pool.untilThere("shut")
        try await pool.endGrace()
        try await read
        try await pool.untilThere("t1")
    }

    private func members(_ count: Int, _ store: StoreServer, _ host: Sandbox, slots: Int = 4) -> [TestFleet] {
        (0..<count).map { _ in TestFleet(store: store, host: host, slots: slots) }
    }

    private func together(
        _ fleet: [TestFleet],
        _ work: @escaping @Sendable (TestFleet) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for member in fleet { group.addTask { try await work(member) } }
            try await group.waitForAll()
        }
    }

    // MARK: While all is well

    @Test(.thorough) func eightMembersOpenNoMoreSessionsThanThereAreSlots() async throws {
        try await withHost { store, host in
            let fleet = members(8, store, host)
            try await together(fleet) { try await $0.read(20) }
            #expect(host.counters.mostOpenSessions <= 4)
            #expect(host.counters.logins <= 4)
            try await together(fleet) { try await $0.shutdown() }
            expectNoDifference(host.counters.logouts, 0)
            // A rolling restart: the tokens are still in the slots.
            let logins = host.counters.logins
            let next = members(8, store, host)
            try await together(next) { try await $0.read(20) }
            expectNoDifference(host.counters.logins, logins)
            try await together(next) { try await $0.shutdown() }
        }
    }

    @Test(.thorough) func aMemberAloneAsksTheStoreForNothingButItsSlot() async throws {
        try await withHost { store, host in
            let member = TestFleet(store: store, host: host, slots: 2) { $0.renewal = .hours(1) }
            try await member.read()
            // The call does not wait until the token is in the store.
            try await StoredPool(in: store).untilThere("t1")
            let commands = member.core.counters.commands
            for _ in 0..<200 { try await member.read() }
            expectNoDifference(member.core.counters.commands, commands)
            try await member.shutdown()
        }
    }

    @Test(.thorough) func aSlotIsHandedOverWithItsSession() async throws {
        try await withHost(sessions: 1) { store, host in
            let fleet = members(2, store, host, slots: 1)
            for member in fleet + fleet { try await member.read() }
            expectNoDifference(host.counters.logins, 1)
            #expect(fleet[0].core.counters.recalls >= 1)
            try await together(fleet) { try await $0.shutdown() }
        }
    }

    /// Without the right to subscribe, a member hears no message.
    @Test(.thorough) func messagesOnlyShortenWaits() async throws {
        try await withHost(sessions: 1) { store, host in
            let owner = StoreClient.make(at: store.address)
            _ = try await owner.send { _ in
                RESPCommand("ACL", "SETUSER", "deaf", "on", ">secret", "~*", "&*", "+@all", "-subscribe")
            }
            await owner.shutdown()
            let fleet = (0..<3).map { _ in TestFleet(store: store, host: host, slots: 1, user: "deaf") }
            for member in fleet + fleet { try await member.read() }
            expectNoDifference(host.counters.logins, 1)
            try await together(fleet) { try await $0.shutdown() }
        }
    }

    @Test(.thorough) func pinnedWorkHasASlotOfItsOwn() async throws {
        try await withHost(sessions: 1) { store, host in
            let fleet = members(2, store, host, slots: 1)
            try await fleet[0].read()
            for member in fleet {
                try await member.database.withSession { session in
                    _ = try await session.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
                }
            }
            try await fleet[0].read()
            expectNoDifference(host.counters.mostOpenSessions, 1)
            expectNoDifference(host.counters.failedLogins, 0)
            try await together(fleet) { try await $0.shutdown() }
        }
    }

    /// Work with a session of its own puts no token, so nobody hears that the first login has succeeded.
    @Test func pinnedWorkThatIsTheFirstKeepsNobodyWaitingForever() async throws {
        try await withHost(sessions: 2) { store, host in
            let fleet = members(2, store, host, slots: 2)
            try await fleet[0].database.withSession { session in
                _ = try await session.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
                try await StoredPool(in: store).age(1, by: 3_600_000)
                try await fleet[1].read()
            }
            expectNoDifference(host.counters.mostOpenSessions, 2)
            try await together(fleet) { try await $0.shutdown() }
        }
    }

    @Test(.thorough) func whoHasManyCallsLeavesTheOthersTheirTurns() async throws {
        try await withHost { store, host in
            let fleet = members(6, store, host, slots: 2)
            let isDone = Locked(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask { while !isDone.value { try await fleet[0].read() } }
                }
                try await together(Array(fleet[1...])) { member in for _ in 0..<4 { try await member.read() } }
                isDone.change { $0 = true }
                try await group.waitForAll()
            }
            #expect(host.counters.logins <= 2)
            try await together(fleet) { try await $0.shutdown() }
        }
    }

    // MARK: Failed logins

    @Test func aWrongPasswordIsSentOnceByAllMembers() async throws {
        try await withHost { store, host in
            let fleet = (0..<8).map { _ in TestFleet(store: store, host: host, slots: 4, password: "wrong") }
            try await together(fleet) { member in
                let error = await #expect(throws: FMRest.APIError.self) { try await member.read() }
                expectNoDifference(error?.fileMakerCode, 212)
            }
            expectNoDifference(host.counters.failedLogins, 1)
            try await together(fleet) { try await $0.shutdown() }
        }
    }

    @Test(.thorough) func aFullHostLimitsTheWholeFleetAndNoRequestIsLost() async throws {
        try await withHost(sessions: 2) { store, host in
            let fleet = members(4, store, host, slots: 4)
            try await together(fleet) { try await $0.read(30) }
            expectNoDifference(host.counters.mostOpenSessions, 2)
            // One member has found the host full, perhaps two at the same time.
            #expect(host.counters.failedLogins <= 2)
            try await together(fleet) { try await $0.shutdown() }
        }
    }

    @Test func aTokenThatTheHostRefusesIsReplacedInItsSlot() async throws {
        try await withHost { store, host in
            let fleet = members(2, store, host, slots: 1)
            try await fleet[0].read()
            host.expireSessions()
            try await together(fleet) { try await $0.read(10) }
            expectNoDifference(host.counters.logins, 2)
            expectNoDifference(host.counters.mostOpenSessions, 1)
            try await together(fleet) { try await $0.shutdown() }
        }
    }

    // MARK: Deaths

    @Test(.thorough) func theSlotOfADeadMemberIsFreeWhenItsLeaseHasEndedWithItsToken() async throws {
        try await withHost(sessions: 1) { store, host in
            let dead = TestFleet(store: store, host: host, slots: 1) { $0.renewal = .hours(1) }
            try await dead.read()
            let pool = StoredPool(in: store)
            try await pool.untilThere("t1")
            // It says nothing more, as if it had been killed.
            await dead.core.shutdown()
            let heir = TestFleet(store: store, host: host, slots: 1)
            async let read: Void = heir.read()
            // It has recalled the slot in vain.
            try await pool.untilThere("c1")
            try await pool.endLease(of: 1)
            try await read
            expectNoDifference(host.counters.logins, 1)
            expectNoDifference(heir.core.counters.strays, 0)
            try await heir.shutdown()
        }
    }

    @Test func aMemberThatDiedDuringItsLoginIsCounted() async throws {
        try await withHost { store, host in
            let dead = StoreClient.make(at: store.address)
            let key = DataAPI.TokenStore.Key(host: "h", database: "d", identity: "ada")
            let names = SlotCalls.Names(digest: String(key.digest.prefix(32)))
            let calls = SlotCalls(client: dead, names: names, settings: .ofTests(slots: 1), me: "dead")
            expectNoDifference(
                awaited: try await calls.take("l"),
                .slot(1, sealed: [], isStray: false, waiting: 0)
            )
            await dead.shutdown()
            try await StoredPool(in: store).endLease(of: 1)
            let heir = TestFleet(store: store, host: host, slots: 1)
            let slot = try await heir.core.budget.take(.init(key: key, member: .init(), tell: { _ in }))
            expectNoDifference(slot.token, nil)
            expectNoDifference(heir.core.counters.strays, 1)
            try await heir.core.budget.give(slot, nil)
            try await heir.shutdown()
        }
    }

    @Test(.thorough) func aSessionWhoseLoginIsNotAnsweredIsCounted() async throws {
        try await withHost { store, host in
            host.inject(.cutAnswer(afterBytes: 0), on: .login)
            let member = TestFleet(store: store, host: host, slots: 1)
            let pool = StoredPool(in: store)
            async let read: Void = member.read()
            // It renews the slot no more, and waits for one.
            while try await !pool.fields().keys.contains(where: { $0.hasPrefix("a:") }), !Task.isCancelled {}
            try await pool.endLease(of: 1)
            try await read
            expectNoDifference(member.core.counters.strays, 1)
            expectNoDifference(host.counters.logins, 2)
            expectNoDifference(host.counters.openSessions, 2)
            try await member.shutdown()
        }
    }

    @Test func aMemberThatSleptLetsItsSlotGoSilently() async throws {
        try await withHost(sessions: 1) { store, host in
            let proxy = try await StoreProxy.start(before: store)
            let sleeper = TestFleet(store: store, host: host, slots: 1, through: proxy) { $0.renewal = .hours(1) }
            try await sleeper.read()
            let pool = StoredPool(in: store)
            try await pool.untilThere("t1")
            // It sleeps: it says nothing and hears nothing, and its lease ends.
            proxy.behave(.blackHole)
            try await pool.endLease(of: 1)
            let heir = TestFleet(store: store, host: host, slots: 1)
            try await heir.read()
            proxy.behave(.pass)
            proxy.cut()
            await until { sleeper.core.counters.slotsLost == 1 }
            try await heir.read()
            expectNoDifference(host.counters.logouts, 0)
            expectNoDifference(host.counters.logins, 1)
            try await heir.shutdown()
            try await sleeper.read()
            expectNoDifference(host.counters.logins, 1)
            try await sleeper.shutdown()
            await proxy.stop()
        }
    }

    // MARK: The store goes away

    @Test(.thorough) func aSplitStoreHasItsSlotsOnEachSide() async throws {
        try await withHost(sessions: 4) { store, host in
            try await StoreServer.run { other in
                let fleet = members(4, store, host, slots: 2) + members(4, other, host, slots: 2)
                try await together(fleet) { try await $0.read(10) }
                #expect(host.counters.mostOpenSessions <= 4)
                expectNoDifference(host.counters.failedLogins, 0)
                try await together(fleet) { try await $0.shutdown() }
            }
        }
    }

    @Test(.thorough) func whileTheStoreIsAwayHoldersGoOnAndOthersHaveOneSessionEach() async throws {
        try await withHost { store, host in
            let holder = TestFleet(store: store, host: host, slots: 1) { $0.calls.grace = Self.grace }
            try await readAfterGrace(holder, StoredPool(in: store))
            store.kill()
            try await holder.read(20)
            expectNoDifference(host.counters.logins, 1)
            let times = StoreClient.Times.ofTests(connection: .milliseconds(100))
            let other = TestFleet(store: store, host: host, slots: 1, times: times) { $0.calls.grace = Self.grace }
            try await other.read(20)
            expectNoDifference(host.counters.logins, 2)
            expectNoDifference(other.core.counters.sessionsWithoutStore, 1)
            // When the store is back, the session without a slot is logged out.
            try await store.start()
            await until { host.counters.logouts == 1 }
            expectNoDifference(host.counters.openSessions, 1)
            // The holder has said what it holds.
            try await StoredPool(in: store).untilThere("t1")
            try await StoredPool(in: store).endGrace()
            try await other.read()
            expectNoDifference(host.counters.logins, 2)
            try await together([holder, other]) { try await $0.shutdown() }
        }
    }

    @Test(.thorough) func anEmptyStoreLearnsFromTheHoldersWhatTheyHold() async throws {
        try await withHost(sessions: 2) { store, host in
            let holder = TestFleet(store: store, host: host, slots: 2) { $0.calls.grace = Self.grace }
            let pool = StoredPool(in: store)
            try await readAfterGrace(holder, pool)
            store.kill()
            try await store.start()
            let other = TestFleet(store: store, host: host, slots: 2) { $0.calls.grace = Self.grace }
            // It waits until holders have had time to say what they hold: it gets the other slot.
            async let read: Void = other.read()
            try await pool.untilThere("t1")
            try await pool.endGrace()
            try await read
            expectNoDifference(host.counters.logins, 2)
            try await holder.read()
            try await together([holder, other]) { try await $0.shutdown() }
            // Both tokens are in the store again.
            let next = members(2, store, host, slots: 2)
            try await together(next) { try await $0.read() }
            expectNoDifference(host.counters.logins, 2)
            try await together(next) { try await $0.shutdown() }
        }
    }
}
