import FMData
import FMSandbox
import FMTestSupport
import NIOCore
import OpenCombine

@testable import FMDataFleet

/// Members of a fleet in one process. Each has a connection to the store and a server object of its own, as if it were
/// a process.
struct TestFleet {
    let core: FleetCore
    let database: DataAPI.Database

    init(
        store: StoreServer,
        host: Sandbox,
        slots: Int,
        through proxy: StoreProxy? = nil,
        user: String? = nil,
        password: String = Solution.Sample.password,
        times: StoreClient.Times = .ofTests(),
        _ change: (inout SlotMember.Settings) -> Void = { _ in }
    ) {
        var settings = SlotMember.Settings()
        settings.calls = .ofTests(slots: slots)
        settings.renewal = .milliseconds(100)
        settings.storePatience = .milliseconds(100)
        change(&settings)
        var address = proxy.map { StoreAddress(socketPath: $0.socket) } ?? store.address
        if let user { (address.user, address.password) = (user, "secret") }
        core = FleetCore(
            store: address,
            settings: settings,
            pollRateLimit: .init(perMinute: 1_000_000_000, burst: 1_000_000_000),
            sealer: .plain,
            logger: nil,
            times: times
        )
        var config = DataAPI.Config.patient
        config.sessions.budget = core.budget
        config.pollGate = core.pollGate
        config.pollRateLimit = .init(perMinute: 1_000_000_000, burst: 1_000_000_000)
        database = DataAPI.Server(host: host.url, config: config)
            .addDatabase("World", credentials: Credentials(user: Solution.Sample.user, password: password))
    }

    func read() async throws {
        _ = try await database.addLayout("Countries").getRecords(recordQuery: RecordQuery(limit: 1))
            .returnAs(FieldData.self).firstValue()
    }

    /// Makes so many calls at once.
    func read(_ count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { try await read() } }
            try await group.waitForAll()
        }
    }

    func shutdown() async throws {
        _ = try await database.server.shutdown().firstValue()
        await core.shutdown()
    }
}

extension SlotCalls.Settings {
    /// Nothing ends by the store's clock, since the tests' machine may stand still for any time: see ``StoredPool``.
    static func ofTests(slots: Int) -> SlotCalls.Settings {
        let hour = 3_600_000
        return SlotCalls.Settings(
            slots: slots,
            lease: hour,
            grace: 0,
            aloneTime: hour,
            fullTime: hour,
            restTime: hour,
            refusalTime: hour,
            lockedTime: hour
        )
    }
}

extension Sealer {
    /// Seals nothing, but checks that what is opened was sealed for its place.
    static let plain = Sealer(
        seal: { content, place in Array("\(place)|".utf8) + content },
        open: { sealed, place in
            let mark = Array("\(place)|".utf8)
            return sealed.starts(with: mark) ? Array(sealed.dropFirst(mark.count)) : nil
        }
    )
}
