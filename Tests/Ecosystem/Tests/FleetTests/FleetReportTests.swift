import FMData
import FMDataFleet
import FMSandbox
import Metrics
import MetricsTestKit
import Programs
import Testing

/// What a process sees of its fleet, and reports.
@Suite(
    .enabled(if: Store.path != nil, "neither redis-server nor valkey-server is installed"),
    .timeLimit(.minutes(5))
)
struct FleetReportTests {
    /// Calls the body when a call has been made in one of two slots, and its token is in the store.
    private func withFleet(_ body: (Fleet, Store) async throws -> Void) async throws {
        let store = try Store()
        defer { store.stop() }
        let host = try await Sandbox.start([.sample])
        let address = try #require(StoreAddress(url: store.url))
        let keys = try FleetKeys([1: [UInt8](repeating: 9, count: 32)], current: 1)
        let fleet = Fleet(slots: 2, store: address, keys: keys)
        var config = DataAPI.Config()
        config.sessions.budget = fleet.budget
        let server = DataAPI.Server(host: host.url, config: config)
        let world = server.addDatabase(
            "World",
            credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
        )
        _ = try await world.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
        while try await fleet.status().pools.first?.logins != 1 {}
        try await body(fleet, store)
        _ = try await server.shutdown().firstValue()
        await fleet.shutdown()
        await host.stop()
    }

    @Test func aProcessSeesTheSlotsThatItUses() async throws {
        try await withFleet { fleet, store in
            let pool = try #require(try await fleet.status().pools.first)
            #expect(pool.slots.map { $0.holder != nil } == [true, false])
            #expect(pool.slots.map { $0.sessionLife != nil } == [true, false])
            #expect(pool.members.count == 1)
            #expect(pool.waiting == [])
            // Whoever looks from outside sees the same.
            let all = try await FleetStatus.read(from: try #require(StoreAddress(url: store.url)))
            #expect(all.pools.map(\.name) == [pool.name])
            #expect(all.pools.first?.members == pool.members)
        }
    }

    @Test func itsFiguresAreRecorded() async throws {
        try await withFleet { fleet, _ in
            let backend = TestMetrics()
            let metrics = FleetMetrics(of: fleet, factory: backend)
            await metrics.record()
            func gauge(_ name: String, _ state: String? = nil) -> Double? {
                backend.recorders.first { recorder in
                    recorder.label == "filemaker.fleet.\(name)"
                        && (state == nil || recorder.dimensions.contains { $0 == ("state", state) })
                }?.lastValue
            }
            #expect(gauge("slots", "held") == 1)
            #expect(gauge("slots", "free") == 1)
            #expect(gauge("slots", "opening") == 0)
            #expect(gauge("members") == 1)
            #expect(gauge("waiting") == 0)
            #expect(gauge("logins") == 1)
            #expect(gauge("strays") == 0)
            func event(_ name: String) -> Int64? {
                backend.counters.first { $0.dimensions.contains { $0 == ("event", name) } }?.totalValue
            }
            #expect(event("slotTaken") == 1)
            #expect(event("recall") == nil)
            // What was counted is not counted again.
            await metrics.record()
            #expect(event("slotTaken") == 1)
        }
    }
}
