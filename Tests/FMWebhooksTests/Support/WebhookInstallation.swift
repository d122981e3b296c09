import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMWebhooks

/// A server with webhooks, a receiver and a registrar, each with a clock that the test controls: a whole installation
/// on one machine.
final class WebhookInstallation: Sendable {
    let sandbox: Sandbox
    /// The server's clock.
    let clock: ManualClock
    /// The registrar's clock.
    let time = TestClock()
    let receiver: WebhookReceiver
    /// The receiver's clock.
    let receiverTime = TestClock()
    let hints = TrackingSubscriber<DataAPI.ChangeHint, Never>()
    let key = WebhookKey(mark: UUID(), secret: "s3cret")
    /// The registrar's connection to the database.
    let database: DataAPI.Database
    /// The same database for another program, which writes.
    let other: DataAPI.Database
    /// The same database for a program with live queries.
    let watched: DataAPI.Database
    /// The clock of the live queries.
    let watchedTime = TestClock()

    private init(_ traits: Sandbox.WebhookTraits) async throws {
        let clock = ManualClock()
        self.clock = clock
        // A busy machine may delay a test for longer than an idle connection is normally kept.
        sandbox = try await Sandbox.start(
            [.sample],
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.odata = .webhooks(traits)
                $0.clock = clock
            }
        )
        receiver = WebhookReceiver(
            key: key,
            configuration: .init(requestTimeout: .seconds(3600)),
            time: receiverTime.sessionTime,
            onHint: nil
        )
        receiver.hints.subscribe(hints)
        try await receiver.start()
        database = DataAPI.Server(
            host: sandbox.url,
            config: .patient,
            runtime: Runtime(),
            wallClock: { Date() },
            time: time.sessionTime
        )
        .addDatabase("World")
        other = DataAPI.Server(host: sandbox.url, config: .patient).addDatabase("World", credentials: Self.credentials)
        watched = DataAPI.Server(
            host: sandbox.url,
            config: .patient,
            runtime: Runtime(),
            wallClock: { Date() },
            time: watchedTime.sessionTime
        )
        .addDatabase("World", credentials: Self.credentials)
    }

    static let credentials = Credentials(user: Solution.Sample.user, password: Solution.Sample.password)

    static func run(
        _ traits: Sandbox.WebhookTraits = .init(),
        _ body: (WebhookInstallation) async throws -> Void
    ) async throws {
        let installation = try await WebhookInstallation(traits)
        let result: Result<Void, any Error>
        do {
            try await body(installation)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        _ = await installation.other.logOut().awaitSingleResult()
        _ = await installation.watched.logOut().awaitSingleResult()
        await installation.receiver.stop()
        await installation.sandbox.stop()
        try result.get()
    }

    // MARK: Registration

    func registrar(tables: [String] = ["Contacts"], key: WebhookKey? = nil) throws -> WebhookRegistrar {
        let port: Int = try #require(receiver.port)
        return WebhookRegistrar(
            database: database,
            credentials: Self.credentials,
            key: key ?? self.key,
            receiverURL: "http://127.0.0.1:\(port)/",
            tables: tables
        )
    }

    /// Starts a registrar and returns when it has found or made its webhooks.
    func start(_ registrar: WebhookRegistrar) async -> TrackingSubscriber<WebhookHealth, Never> {
        let health = TrackingSubscriber<WebhookHealth, Never>()
        registrar.health.subscribe(health)
        registrar.start()
        await time.untilTimer(in: .seconds(10))
        time.advance(by: .seconds(10))
        await health.wait { events in events.contains { Self.isRegistered($0) } }
        return health
    }

    /// Starts a registrar whose program crashes once it has made its webhooks.
    func startAndCrash(_ key: WebhookKey? = nil) async throws {
        do {
            let registrar = try registrar(key: key)
            _ = await start(registrar)
            // It checks soon what it has made.
            await time.untilTimer(in: .seconds(10))
            withExtendedLifetime(registrar) {}
        }
        // The task that reported may keep it alive for a moment, and its timer must not be mistaken for the next
        // registrar's.
        await time.untilTimers(\.isEmpty)
    }

    private static func isRegistered(_ event: TrackingSubscriber<WebhookHealth, Never>.Event) -> Bool {
        if case .value(let health) = event { health.state == .registered } else { false }
    }

    /// Lets the next round run, which begins after this time; if a webhook is missing, it reads the list twice.
    func round(after amount: Duration, looksTwice: Bool = false) async {
        await time.untilTimer(in: amount)
        time.advance(by: amount)
        guard looksTwice else { return }
        await time.untilTimer(in: .seconds(10))
        time.advance(by: .seconds(10))
    }

    // MARK: Records

    func edit(_ id: Int, name: String = "x") async throws {
        let record = EditRecord(editRecord: ["Name": name] as [String: String])
        _ = try await other.addLayout("Contacts").editRecord(record: record, recordId: id).firstValue()
    }

    /// Returns when there have been this many deliveries and the receiver has recorded them.
    func delivered(_ count: Int, accepted: Int? = nil) async {
        await sandbox.untilWebhookDeliveries(count)
        await until { self.receiver.counters.accepted >= accepted ?? count }
    }

    /// The records that the next hint names, after its delay; `[-1]` for the whole table.
    func nextHint() async -> [Int] {
        let count = hints.values.count
        await receiverTime.untilTimer(in: .milliseconds(100))
        receiverTime.advance(by: .milliseconds(100))
        await hints.valueCount(atLeast: count + 1)
        return hints.values.last?.rowIDs ?? [-1]
    }
}
