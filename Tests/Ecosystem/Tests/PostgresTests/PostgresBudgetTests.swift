import FMSandbox
import PostgresSupport
import Testing

@testable import FMData
@testable import PostgresSample

/// Databases that share sessions through Postgres, each as in a process of its own.
@Suite(.needsPostgres, .timeLimit(.minutes(10)), .serialized)
struct PostgresBudgetTests {
    private func members(_ count: Int, _ store: PostgresServer, _ host: Sandbox, slots: Int) -> [TestMember] {
        (0..<count).map { _ in TestMember(store, host, slots: slots) }
    }

    // MARK: While all is well

    @Test func eightMembersOpenNoMoreSessionsThanThereAreSlots() async throws {
        try await withHost { store, host in
            let all = members(8, store, host, slots: 4)
            try await together(all) { try await $0.read(20) }
            #expect(host.counters.mostOpenSessions <= 4)
            #expect(host.counters.logins <= 4)
            #expect(host.counters.failedLogins == 0)
            try await together(all) { try await $0.shutdown() }
            #expect(host.counters.logouts == 0)
            // All are started again: the tokens are still in the slots.
            let logins = host.counters.logins
            let next = members(8, store, host, slots: 4)
            try await together(next) { try await $0.read(20) }
            #expect(host.counters.logins == logins)
            try await together(next) { try await $0.shutdown() }
        }
    }

    @Test func aSlotIsHandedOverWithItsSession() async throws {
        try await withHost(sessions: 1) { store, host in
            let two = members(2, store, host, slots: 1)
            for member in two + two { try await member.read() }
            #expect(host.counters.logins == 1)
            #expect(host.counters.logouts == 0)
            try await together(two) { try await $0.shutdown() }
        }
    }

    @Test func whoHasManyCallsLeavesTheOthersTheirTurns() async throws {
        try await withHost(sessions: 2) { store, host in
            let all = members(4, store, host, slots: 2)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { while !Task.isCancelled { try? await all[0].read() } }
                }
                try await together(Array(all[1...])) { member in for _ in 0..<3 { try await member.read() } }
                group.cancelAll()
                try await group.waitForAll()
            }
            #expect(host.counters.logins <= 2)
            try await together(all) { try await $0.shutdown() }
        }
    }

    /// Work with a session of its own puts no token, and may be the first.
    @Test func pinnedWorkHasASlotOfItsOwnAndKeepsNobodyWaiting() async throws {
        try await withHost(sessions: 2) { store, host in
            let two = members(2, store, host, slots: 2)
            try await two[0].database.withSession { session in
                _ = try await session.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
                // Five seconds later.
                try await change(store, "UPDATE fm_slots SET granted = granted - interval '6 s' WHERE slot = 1")
                try await two[1].read()
            }
            try await two[0].read(5)
            #expect(host.counters.mostOpenSessions == 2)
            #expect(host.counters.failedLogins == 0)
            try await together(two) { try await $0.shutdown() }
        }
    }

    // MARK: Failed logins

    @Test func aWrongPasswordIsSentOnceByAllMembers() async throws {
        try await withHost { store, host in
            let all = (0..<8).map { _ in TestMember(store, host, slots: 4, password: "wrong") }
            try await together(all) { member in
                let error = await #expect(throws: FMRest.APIError.self) { try await member.read() }
                #expect(error?.fileMakerCode == 212)
            }
            #expect(host.counters.failedLogins == 1)
            try await together(all) { try await $0.shutdown() }
        }
    }

    @Test func aFullHostLimitsAllMembersAndNoCallIsLost() async throws {
        try await withHost(sessions: 2) { store, host in
            let all = members(4, store, host, slots: 4)
            try await together(all) { try await $0.read(30) }
            #expect(host.counters.mostOpenSessions <= 2)
            try await together(all) { try await $0.shutdown() }
        }
    }

    @Test func aTokenThatTheHostRefusesIsReplacedInItsSlot() async throws {
        try await withHost { store, host in
            let two = members(2, store, host, slots: 1)
            try await two[0].read()
            host.expireSessions()
            try await together(two) { try await $0.read(10) }
            #expect(host.counters.logins == 2)
            #expect(host.counters.mostOpenSessions == 1)
            try await together(two) { try await $0.shutdown() }
        }
    }

    // MARK: Deaths

    @Test func theSlotOfADeadMemberIsFreeWhenItsLeaseHasEndedWithItsToken() async throws {
        try await withHost(sessions: 1) { store, host in
            // It says nothing more after its call, as if it had been killed.
            let dead = TestMember(store, host, slots: 1) { $0.renewal = .seconds(3600) }
            try await dead.read()
            try await until(store, "count(token) = 1 FROM fm_slots")
            let heir = TestMember(store, host, slots: 1)
            async let read: Void = heir.read()
            // It has recalled the slot in vain.
            try await until(store, "count(recalled) = 1 FROM fm_slots")
            try await endLease(store)
            try await read
            #expect(host.counters.logins == 1)
            try await until(store, "sum(strays) = 0 FROM fm_slots")
            try await heir.shutdown()
        }
    }

    @Test func aMemberThatSleptLetsItsSlotGoSilently() async throws {
        try await withHost(sessions: 1) { store, host in
            let sleeper = TestMember(store, host, slots: 1)
            try await sleeper.read()
            try await until(store, "count(token) = 1 FROM fm_slots")
            // Somebody else has had the slot while it slept.
            try await change(store, "UPDATE fm_slots SET lease = 'another', until = clock_timestamp()")
            let heir = TestMember(store, host, slots: 1)
            try await heir.read()
            try await sleeper.read()
            #expect(host.counters.logins == 1)
            #expect(host.counters.logouts == 0)
            try await together([sleeper, heir]) { try await $0.shutdown() }
        }
    }

    // MARK: The database goes away

    @Test func whileTheDatabaseIsAwayHoldersGoOnAndOthersOpenNoSession() async throws {
        try await withHost { store, host in
            let holder = TestMember(store, host, slots: 1)
            try await holder.read()
            try await until(store, "count(token) = 1 FROM fm_slots")
            await store.killNow()
            try await holder.read(20)
            let other = TestMember(store, host, slots: 1) { $0.patience = .zero }
            let error = await #expect(throws: FMRest.APIError.self) { try await other.read() }
            #expect(error?.code == .sessionBudget)
            #expect(host.counters.logins == 1)
            try await store.start()
            try await holder.read(20)
            try await TestMember(store, host, slots: 1).read()
            #expect(host.counters.logins == 1)
            #expect(host.counters.mostOpenSessions == 1)
        }
    }

    @Test func anEmptyTableLearnsFromTheHoldersWhatTheyHold() async throws {
        try await withHost(sessions: 1) { store, host in
            let two = (0..<2).map { _ in TestMember(store, host, slots: 1) { $0.grace = .seconds(3600) } }
            async let first: Void = two[0].read()
            try await until(store, "count(*) = 1 FROM fm_slots")
            try await change(store, "UPDATE fm_slots SET until = clock_timestamp()")
            try await first
            try await until(store, "count(token) = 1 FROM fm_slots")
            try await change(store, "DELETE FROM fm_slots")
            try await change(store, "DELETE FROM fm_logins")
            // It is granted no slot until the holder has said what it holds, and then has that one.
            try await two[1].read()
            try await two[0].read()
            #expect(host.counters.logins == 1)
            #expect(host.counters.logouts == 0)
            #expect(host.counters.failedLogins == 0)
            try await together(two) { try await $0.shutdown() }
        }
    }
}
