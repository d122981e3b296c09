import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataFleet

/// What is lost between a member and its store: answers, everything, or the connection at any byte.
@Suite(.needsStore, .timeLimit(.minutes(10)))
struct LostAnswerTests {
    private static let key = DataAPI.TokenStore.Key(host: "h", database: "d", identity: "ada")

    private func withProxy(_ body: (StoreServer, StoreProxy) async throws -> Void) async throws {
        try await StoreServer.run { store in
            let proxy = try await StoreProxy.start(before: store)
            try await body(store, proxy)
            await proxy.stop()
        }
    }

    private func core(at socket: String) -> FleetCore {
        var settings = SlotMember.Settings()
        settings.calls = .ofTests(slots: 2)
        settings.renewal = .milliseconds(100)
        settings.storePatience = .seconds(600)
        let address = StoreAddress(socketPath: socket)
        return FleetCore(store: address, settings: settings, sealer: .plain, logger: nil, times: .ofTests())
    }

    private func request() -> DataAPI.SessionBudget.Request {
        DataAPI.SessionBudget.Request(key: Self.key, member: .init(), tell: { _ in })
    }

    @Test(.thorough) func aTakenSlotWhoseAnswerIsLostIsTheSameSlotWhenItIsAskedForAgain() async throws {
        try await withProxy { store, proxy in
            let core = core(at: proxy.socket)
            // The connection is made while answers still come.
            let first = try await core.budget.take(request())
            try await core.budget.give(first, nil)
            proxy.behave(.swallowAnswers)
            async let taken = core.budget.take(request())
            await until { proxy.lossCount > 0 }
            proxy.behave(.pass)
            let slot = try await taken
            expectNoDifference(slot.token, nil)
            expectNoDifference(awaited: try await StoredPool(in: store).held(), [1])
            try await core.budget.give(slot, nil)
            expectNoDifference(awaited: try await StoredPool(in: store).held(), [])
            await core.shutdown()
        }
    }

    @Test func aGivingWithoutAnAnswerIsRepeatedUntilThereIsOne() async throws {
        try await withProxy { store, proxy in
            let core = core(at: proxy.socket)
            let slot = try await core.budget.take(request())
            proxy.behave(.blackHole)
            async let given: Void = core.budget.give(slot, nil)
            await until { proxy.lossCount > 0 }
            expectNoDifference(awaited: try await StoredPool(in: store).held(), [1])
            proxy.behave(.pass)
            try await given
            try await StoredPool(in: store).untilNothingIsHeld()
            await core.shutdown()
        }
    }

    @Test func aPutWithoutAnAnswerIsKnownWhenTheStoreIsAskedAgain() async throws {
        try await withProxy { store, proxy in
            let core = core(at: proxy.socket)
            let slot = try await core.budget.take(request())
            proxy.behave(.swallowAnswers)
            let putting = Task { try await core.budget.put("T1", slot, .seconds(3600)) }
            try await StoredPool(in: store).untilThere("t1")
            await until { proxy.lossCount > 0 }
            proxy.behave(.pass)
            await #expect(throws: StoreError.self) { try await putting.value }
            // It was carried out, so the next holder has the token.
            try await core.budget.give(slot, .seconds(3600))
            let next = try await core.budget.take(request())
            expectNoDifference(next.token, "T1")
            expectNoDifference(awaited: try await core.budget.drop("T1", next), true)
            try await core.budget.give(next, nil)
            expectNoDifference(awaited: try await core.budget.take(request()).token, nil)
            await core.shutdown()
        }
    }

    @Test(.thorough) func theConnectionMayEndAtAnyByte() async throws {
        try await withProxy { store, proxy in
            // Longer than all answers together, greeting and information included.
            let (bytes, places) = (1400, 128)
            for place in 0...places {
                let core = core(at: proxy.socket)
                proxy.behave(.cutAfter(bytes * place / places))
                let slot = try await core.budget.take(request())
                if slot.token == nil { _ = try? await core.budget.put("T1", slot, .seconds(3600)) }
                try await core.budget.give(slot, .seconds(3600))
                try await StoredPool(in: store).untilNothingIsHeld()
                await core.shutdown()
            }
        }
    }

    @Test func whileNothingArrivesAHolderGoesOn() async throws {
        try await withProxy { store, proxy in
            let host = try await Sandbox.start([.sample], configuration: .patient)
            let core = core(at: proxy.socket)
            var config = DataAPI.Config.patient
            config.sessions.budget = core.budget
            let database = DataAPI.Server(host: host.url, config: config).addDatabase(
                "World",
                credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            let countries = database.addLayout("Countries")
            _ = try await countries.getRecords().returnAs(FieldData.self).firstValue()
            proxy.behave(.blackHole)
            // At least one renewal is lost meanwhile.
            while proxy.lossCount == 0 {
                _ = try await countries.getRecords().returnAs(FieldData.self).firstValue()
            }
            proxy.behave(.pass)
            _ = try await database.server.shutdown().firstValue()
            expectNoDifference(host.counters.logins, 1)
            await core.shutdown()
            await host.stop()
        }
    }
}
