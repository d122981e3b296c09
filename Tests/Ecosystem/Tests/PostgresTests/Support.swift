import FMData
import FMSandbox
import Foundation
import PostgresSupport
import Synchronization
import Testing

@testable import PostgresSample

extension Trait where Self == ConditionTrait {
    /// Skips tests of a server where none is installed.
    static var needsPostgres: Self {
        .enabled(if: PostgresServer.programs != nil, "no PostgreSQL server is installed")
    }
}

/// Calls the body with a server of Postgres that has the tables.
func withStore(_ body: (PostgresServer) async throws -> Void) async throws {
    let store = try await PostgresServer()
    do {
        _ = try await store.client().query(SlotTable.schema)
        try await body(store)
    } catch {
        await store.stop()
        throw error
    }
    await store.stop()
}

/// The same with a host that allows so many sessions: one more would be refused.
func withHost(sessions: Int = 4, _ body: (PostgresServer, Sandbox) async throws -> Void) async throws {
    try await withStore { store in
        var configuration = Sandbox.Configuration()
        // As long as a busy machine may need; a real server closes connections after 5 s without a request.
        configuration.keepAlive = .seconds(600)
        configuration.maximumSessions = sessions
        let host = try await Sandbox.start([.sample], configuration: configuration)
        try await body(store, host)
        await host.stop()
    }
}

/// Waits until the statement answers with true.
func until(_ store: PostgresServer, _ condition: String) async throws {
    let client = store.client()
    while try await client.query("SELECT \(condition)") != [["t"]], !Task.isCancelled {}
}

/// Changes the tables as time or other people do.
func change(_ store: PostgresServer, _ statement: String) async throws { _ = try await store.client().query(statement) }

/// The lease of a slot ends now, if it is not renewed.
func endLease(_ store: PostgresServer, of slot: Int = 1) async throws {
    try await change(store, "UPDATE fm_slots SET until = clock_timestamp() WHERE slot = \(slot)")
}

extension PostgresBudget.Settings {
    /// Nothing ends by the clock of the database, since the tests' machine may stand still for any time.
    static func ofTests(slots: Int) -> Self {
        var settings = Self(slots: slots)
        settings.lease = .seconds(3600)
        settings.mark = .seconds(3600)
        settings.renewal = .milliseconds(50)
        settings.pause = .milliseconds(20)
        settings.patience = .seconds(600)
        settings.grace = .zero
        return settings
    }
}

extension PostgresBudget {
    /// A budget with a connection of its own, as another process has it.
    convenience init(_ store: PostgresServer, slots: Int, _ change: (inout Settings) -> Void = { _ in }) {
        var settings = Settings.ofTests(slots: slots)
        change(&settings)
        self.init(
            settings,
            sealer: TokenSealer(key: [UInt8](repeating: 5, count: 32)),
            query: store.client().query
        )
    }
}

/// A process with a server object of its own.
struct TestMember {
    let database: DataAPI.Database

    init(
        _ store: PostgresServer,
        _ host: Sandbox,
        slots: Int,
        password: String = Solution.Sample.password,
        _ change: (inout PostgresBudget.Settings) -> Void = { _ in }
    ) {
        var config = DataAPI.Config()
        config.sessions.budget = PostgresBudget(store, slots: slots, change).budget
        // Where many tests run at once, a call takes its time.
        config.sessions.waitingDeadline = .seconds(600)
        config.sessions.fullHostDeadline = .seconds(600)
        database = DataAPI.Server(host: host.url, config: config)
            .addDatabase("World", credentials: Credentials(user: Solution.Sample.user, password: password))
    }

    func read() async throws {
        _ = try await database.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
    }

    /// Makes so many calls at once.
    func read(_ count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { try await read() } }
            try await group.waitForAll()
        }
    }

    func shutdown() async throws { _ = try await database.server.shutdown().firstValue() }
}

/// Has all members work at the same time.
func together(_ members: [TestMember], _ work: @escaping @Sendable (TestMember) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for member in members { group.addTask { try await work(member) } }
        try await group.waitForAll()
    }
}

/// One that takes slots, and hears what becomes of them.
final class Taker: Sendable {
    typealias Event = DataAPI.SessionBudget.Event

    private let member = DataAPI.Member()
    private let told = Mutex<Set<Event>>([])

    var request: DataAPI.SessionBudget.Request {
        DataAPI.SessionBudget.Request(
            key: DataAPI.TokenStore.Key(host: "https://host:443", database: "World", identity: "ada"),
            member: member,
            tell: { [self] event in told.withLock { _ = $0.insert(event) } }
        )
    }

    /// Waits until it is told this.
    func hears(_ event: Event) async {
        while !told.withLock({ $0.contains(event) }), !Task.isCancelled { await Task.yield() }
    }
}
