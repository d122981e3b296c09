import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataFleet

/// A member that stands still for longer than its lease, as after `SIGSTOP`, in each phase of its work: what it says
/// too late is refused, and what it has opened is logged out. `FleetTests` has one that holds a slot without using it.
@Suite(.needsStore, .timeLimit(.minutes(10)))
struct SleepingMemberTests {
    /// A member whose words reach the store through a proxy, and one that takes its slot.
    private struct Scene {
        let host: Sandbox
        let proxy: StoreProxy
        let pool: StoredPool
        let sleeper: TestFleet
        let heir: TestFleet

        /// The sleeper's lease ends, and the other member has its slot.
        func passTheSlotOn() async throws {
            try await pool.endLease(of: 1)
            try await heir.read()
        }

        /// What the sleeper has said before has arrived at the store.
        func untilTheStoreHasHeard() async throws { _ = try await sleeper.core.status() }

        /// The sleeper hears the store again, over another connection.
        func wakeUp() async {
            proxy.behave(.pass)
            proxy.cut()
            await until { sleeper.core.counters.slotsLost == 1 }
        }
    }

    private func withSleeper(_ body: (Scene) async throws -> Void) async throws {
        try await StoreServer.run { store in
            var configuration = Sandbox.Configuration.patient
            // One for the slot, and one that the sleeper may have opened without anybody knowing.
            configuration.maximumSessions = 2
            let host = try await Sandbox.start([.sample], configuration: configuration)
            let proxy = try await StoreProxy.start(before: store)
            let scene = Scene(
                host: host,
                proxy: proxy,
                pool: StoredPool(in: store),
                sleeper: TestFleet(store: store, host: host, slots: 1, through: proxy) { $0.renewal = .hours(1) },
                heir: TestFleet(store: store, host: host, slots: 1)
            )
            try await body(scene)
            try await scene.heir.shutdown()
            // The slot was given back with its session, whoever has opened it.
            try await scene.sleeper.read()
            expectNoDifference(host.counters.openSessions, 1)
            expectNoDifference(host.counters.failedLogins, 0)
            try await scene.sleeper.shutdown()
            await proxy.stop()
            await host.stop()
        }
    }

    @Test func duringARequestTheRequestEndsAsAlways() async throws {
        try await withSleeper { scene in
            scene.host.inject(.holdAnswer, on: .getRecords)
            async let read: Void = scene.sleeper.read()
            try await scene.pool.untilThere("t1")
            await scene.host.untilAnswersHeld()
            scene.proxy.behave(.blackHole)
            try await scene.passTheSlotOn()
            await scene.wakeUp()
            scene.host.releaseAnswers()
            try await read
            expectNoDifference(scene.host.counters.logins, 1)
            expectNoDifference(scene.host.counters.logouts, 0)
            expectNoDifference(scene.host.counters.requests[.getRecords], 2)
        }
    }

    @Test func duringALoginTheSessionIsLoggedOutWhenItComes() async throws {
        try await withSleeper { scene in
            scene.host.inject(.holdAnswer, on: .login)
            async let read: Void = scene.sleeper.read()
            await scene.host.untilAnswersHeld()
            scene.proxy.behave(.blackHole)
            try await scene.passTheSlotOn()
            expectNoDifference(scene.heir.core.counters.strays, 1)
            expectNoDifference(scene.host.counters.openSessions, 2)
            await scene.wakeUp()
            scene.host.releaseAnswers()
            // The call is served in the slot, when it is passed back.
            try await read
            await until { scene.host.counters.logouts == 1 }
            expectNoDifference(scene.host.counters.logins, 2)
        }
    }

    @Test func aTokenThatIsPutTooLateIsRefusedAndItsSessionLoggedOut() async throws {
        try await withSleeper { scene in
            scene.host.inject(.holdAnswer, on: .login)
            async let read: Void = scene.sleeper.read()
            await scene.host.untilAnswersHeld()
            scene.proxy.behave(.hold)
            scene.host.releaseAnswers()
            await until { scene.proxy.holdCount > 0 }
            try await scene.passTheSlotOn()
            try await scene.pool.untilThere("t1")
            let token = try await scene.pool.fields()["t1"]
            scene.proxy.behave(.pass)
            await until { scene.host.counters.logouts == 1 }
            try await read
            expectNoDifference(awaited: try await scene.pool.fields()["t1"], token)
            expectNoDifference(scene.heir.core.counters.strays, 1)
            expectNoDifference(scene.host.counters.logins, 2)
        }
    }

    @Test(.thorough) func aSlotThatIsGivenBackTooLateStaysWithItsNextHolder() async throws {
        try await withSleeper { scene in
            try await scene.sleeper.read()
            try await scene.pool.untilThere("t1")
            scene.proxy.behave(.hold)
            // The other one asks for the slot, and the sleeper gives it back: that is on its way.
            async let read: Void = scene.heir.read()
            await until { scene.proxy.holdCount > 0 }
            try await scene.pool.endLease(of: 1)
            try await read
            let lease = try await scene.pool.fields()["l1"]
            scene.proxy.behave(.pass)
            try await scene.untilTheStoreHasHeard()
            expectNoDifference(awaited: try await scene.pool.fields()["l1"], lease)
            expectNoDifference(scene.host.counters.logins, 1)
            expectNoDifference(scene.host.counters.logouts, 0)
        }
    }
}
