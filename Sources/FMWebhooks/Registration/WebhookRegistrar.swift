public import FMData
import Foundation
import NIOConcurrencyHelpers
import NIOCore
public import OpenCombine

/// Registers webhooks at a FileMaker Server 22.0.4 or later, for a ``WebhookReceiver`` to take in, and keeps them there.
///
///     let registrar = WebhookRegistrar(
///         database: contacts,
///         credentials: .init(user: "hooks", password: secret),
///         key: key,
///         receiverURL: "https://hooks.example.com",
///         tables: ["People", "Phones"]
///     )
///     registrar.start()
///     …
///     await registrar.stop()
///
/// At the start, and every few minutes, it reads the list of the database's hooks. What fits is kept; what is missing is added; what
/// has its mark and is not wanted any more, left behind by a program that crashed for instance, is deleted. Hooks of others are
/// never touched. An id is never remembered, since servers give it to the next hook, and a list that lacks something is read a
/// second time ten seconds later, since the first one after idleness may be empty; at the start both are read, so hooks are in
/// place some ten seconds after it.
///
/// The account needs the extended privilege `fmodata`, and the server its OData connector. The rows of a delivery are rendered with
/// its privileges, as far as is known: one that may read little is enough, since deliveries hold `ROWID` and `ROWMODID` alone.
///
/// Source: Claris OData guide, "Webhooks": `Webhook.GetAll`, `Webhook.Get`, `Webhook.Add`, `Webhook.Delete`.
public final class WebhookRegistrar: @unchecked Sendable {
    // @unchecked: `lock` guards every `var`.

    /// What hooks are asked for, and how often they are looked after.
    public struct Configuration: Sendable, Hashable {
        /// The fields in a delivery. The default is `ROWID` and `ROWMODID`, all that a hint is made of.
        public var select: [String]
        /// Whether changes of definitions are delivered, too. The default is true.
        public var notifiesSchemaChanges: Bool
        /// After how many attempts the server gives a delivery up, where it takes such a number. The default is 100; 0 would be
        /// never, and what cannot be delivered would hold up all that is behind it.
        public var maximumAttempts: Int
        /// How long between two looks at the list. The default is 5 minutes.
        public var interval: Duration
        /// How long ``WebhookRegistrar/stop()`` may take to delete the hooks. The default is 30 s.
        public var patience: Duration

        /// A configuration; see the properties.
        public init(
            select: [String] = ["ROWID", "ROWMODID"],
            notifiesSchemaChanges: Bool = true,
            maximumAttempts: Int = 100,
            interval: Duration = .seconds(5 * 60),
            patience: Duration = .seconds(30)
        ) {
            self.select = select
            self.notifiesSchemaChanges = notifiesSchemaChanges
            self.maximumAttempts = maximumAttempts
            self.interval = interval
            self.patience = patience
        }
    }

    private let database: DataAPI.Database
    private let credentials: DataAPI.Credentials
    private let broadcast: Broadcast<WebhookHealth>

    private let lock = NIOLock()
    private var machine: RegistrarStateMachine
    private var call: Task<Void, Never>?
    private var timers: [Int: @Sendable () -> Void] = [:]
    private var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    private var hasEnded = false

    private var time: SessionTime { database.server.time }

    /// A registrar. Nothing is sent before ``start()``.
    ///
    /// - Parameters:
    ///   - database: whose tables are watched. Its sessions and its credentials are not used.
    ///   - credentials: an account with the extended privilege `fmodata`, or a Claris ID token for FileMaker Cloud, which is good
    ///     for an hour.
    ///   - key: the mark and the secret of the hooks; the receiver has the same.
    ///   - receiverURL: where the server reaches the receiver, perhaps through a proxy: `http://10.0.0.7:8055`,
    ///     `https://example.com/hooks`. The paths of the hooks are appended.
    ///   - tables: the table occurrences to watch, each with a hook of its own. A name that the server does not know may be
    ///     accepted silently, and never fires.
    ///   - configuration: what hooks are asked for.
    public init(
        database: DataAPI.Database,
        credentials: DataAPI.Credentials,
        key: WebhookKey,
        receiverURL: String,
        tables: [String],
        configuration: Configuration = Configuration()
    ) {
        self.database = database
        self.credentials = credentials
        broadcast = Broadcast(present: WebhookHealth(state: .starting)) { $0 = [$1] }
        let root = receiverURL.hasSuffix("/") ? String(receiverURL.dropLast()) : receiverURL
        var settings = RegistrarStateMachine.Settings(
            wanted: tables.map { table in
                WantedWebhook(
                    url: root + key.path(database: database.name, table: table),
                    table: table,
                    secret: key.secret,
                    select: configuration.select,
                    notifiesSchemaChanges: configuration.notifiesSchemaChanges,
                    maximumAttempts: configuration.maximumAttempts
                )
            },
            mark: key.mark.uuidString
        )
        settings.interval = TimeAmount(configuration.interval)
        settings.patience = TimeAmount(configuration.patience)
        machine = RegistrarStateMachine(settings)
    }

    deinit {
        for cancel in timers.values { cancel() }
        broadcast.finish()
    }

    /// How the hooks do.
    ///
    /// Publishes the present health to each new subscriber, then every change, and finishes after ``stop()``. A subscriber that asks
    /// for nothing gets the latest when it does.
    ///
    /// Values arrive on the main actor for those who subscribe there, else on a background thread, one after the other. Cancelling
    /// ends the subscription, not the registrar.
    public var health: AnyPublisher<WebhookHealth, Never> {
        broadcast.publisher.removeDuplicates().eraseToAnyPublisher()
    }

    /// Begins to look after the hooks, and returns at once; ``health`` tells how it goes. A second call does nothing, and nothing
    /// begins again after ``stop()``.
    public func start() {
        act { $0.start(now: $1) }
    }

    /// Deletes the hooks, and returns when they are gone or ``Configuration/patience`` is at its end; ``health`` then says how many
    /// are left. A program that ends without it leaves hooks at which its server goes on sending.
    public func stop() async {
        await withCheckedContinuation { continuation in
            let isOver = lock.withLock {
                if !hasEnded { waitingForEnd.append(continuation) }
                return hasEnded
            }
            if isOver { continuation.resume() } else { act { $0.stop(now: $1) } }
        }
    }

    // MARK: The machine's arms

    private func act(_ event: (inout RegistrarStateMachine, NIODeadline) -> [RegistrarStateMachine.Action]) {
        let waiting = lock.withLock {
            // What the actions begin reports on other threads, and a broadcast calls nobody: all of it may happen under the lock.
            for action in event(&machine, time.now()) { lockedRun(action) }
            defer { if hasEnded { waitingForEnd = [] } }
            return hasEnded ? waitingForEnd : []
        }
        for continuation in waiting { continuation.resume() }
    }

    private func lockedRun(_ action: RegistrarStateMachine.Action) {
        switch action {
        case .call(let call):
            self.call = Task {
                let result = await self.publisher(for: call).awaitSingleResult()
                // Who has stopped waiting has no use for it.
                if !Task.isCancelled { self.act { $0.answered(WebhookAnswer(call, result), now: $1) } }
            }
        case .setTimer(let id, let instant):
            timers[id] = time.schedule(instant) { [weak self] in self?.rang(id) }
        case .report(let health):
            broadcast.send(health)
        case .finish:
            hasEnded = true
            call?.cancel()
            for cancel in timers.values { cancel() }
            timers = [:]
            broadcast.finish()
        }
    }

    private func rang(_ id: Int) {
        act { machine, now in
            timers[id] = nil
            return machine.rang(id, now: now)
        }
    }

    private func publisher(for call: RegistrarStateMachine.Call) -> AnyPublisher<ODataAnswer, FMRest.APIError> {
        switch call {
        case .list: database.webhooks(credentials)
        case .get(let id): database.webhook(id, credentials)
        case .add(let definition): database.addWebhook(definition, credentials)
        case .delete(let id): database.deleteWebhook(id, credentials)
        }
    }
}

extension WebhookRegistrar: CustomStringConvertible, CustomReflectable {
    /// What it is, without credentials and mark.
    public var description: String { "WebhookRegistrar(\"\(database.name)\")" }

    /// What a dump may show: no secret.
    public var customMirror: Mirror { Mirror(self, children: ["database": database.name]) }
}
