public import FMData
import Foundation
import NIOConcurrencyHelpers
import NIOCore
public import OpenCombine

/// Registers webhooks at a FileMaker Server 22.0.4 or later, for a ``WebhookReceiver`` to receive, and keeps them
/// there.
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
/// At the start, and every few minutes, it reads the list of the database's webhooks. Those that fit are kept; missing
/// ones are added; those with its mark that are no longer wanted, for instance left behind by a program that crashed,
/// are deleted. Webhooks of other programs are never changed. An id is never remembered, since servers give it to the
/// next webhook, and a list that lacks one is read a second time ten seconds later, since the first list after idleness
/// may be empty; at the start both are read, so the webhooks are registered some ten seconds after it.
///
/// The account needs the extended privilege `fmodata`, and the server its OData connector. As far as is known, the rows
/// of a delivery are read with the account's privileges. An account that may read little is enough, since deliveries
/// contain `ROWID` and `ROWMODID` only.
///
/// Source: Claris OData guide, "Webhooks": `Webhook.GetAll`, `Webhook.Get`, `Webhook.Add`, `Webhook.Delete`.
public final class WebhookRegistrar: Sendable {
    /// The properties of the webhooks, and how often they are checked.
    public struct Configuration: Sendable, Hashable {
        /// The fields in a delivery. The default is `ROWID` and `ROWMODID`, all that a hint needs.
        public var select: [String]
        /// Whether changes of definitions are delivered too. The default is true.
        public var notifiesSchemaChanges: Bool
        /// The number of attempts after which the server gives up a delivery, if its version supports such a number.
        /// The default is 100; 0 would be never, so that one delivery that always fails would block all later ones.
        public var maximumAttempts: Int
        /// The time between two readings of the list. The default is 5 minutes.
        public var interval: Duration
        /// How long ``WebhookRegistrar/stop()`` may take to delete the webhooks. The default is 30 s.
        public var stopTimeout: Duration

        /// A configuration; each property documents its part and its default.
        public init(
            select: [String] = ["ROWID", "ROWMODID"],
            notifiesSchemaChanges: Bool = true,
            maximumAttempts: Int = 100,
            interval: Duration = .seconds(5 * 60),
            stopTimeout: Duration = .seconds(30)
        ) {
            self.select = select
            self.notifiesSchemaChanges = notifiesSchemaChanges
            self.maximumAttempts = maximumAttempts
            self.interval = interval
            self.stopTimeout = stopTimeout
        }
    }

    private let database: DataAPI.Database
    private let credentials: DataAPI.Credentials
    private let broadcast: Broadcast<WebhookHealth>

    private struct State {
        var machine: RegistrarStateMachine
        var call: Task<Void, Never>?
        var timers: [Int: @Sendable () -> Void] = [:]
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
        var hasEnded = false
    }

    private let state: NIOLockedValueBox<State>

    private var time: SessionTime { database.server.time }

    /// A registrar. Nothing is sent before ``start()``.
    ///
    /// - Parameters:
    ///   - database: the database whose tables are watched. Its sessions and its credentials are not used.
    ///   - credentials: an account with the extended privilege `fmodata`, or a Claris ID token for FileMaker Cloud,
    ///     which is valid for an hour.
    ///   - key: the mark and the secret of the webhooks; the receiver has the same.
    ///   - receiverURL: the address at which the server reaches the receiver, perhaps through a proxy:
    ///     `http://10.0.0.7:8055`, `https://example.com/hooks`. The paths of the webhooks are appended.
    ///   - tables: the table occurrences to watch, each with a webhook of its own. The server may accept an unknown
    ///     name silently; such a webhook never fires.
    ///   - configuration: the properties of the webhooks, and how often they are checked.
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
        settings.stopTimeout = TimeAmount(configuration.stopTimeout)
        state = NIOLockedValueBox(State(machine: RegistrarStateMachine(settings)))
    }

    deinit {
        for cancel in state.withLockedValue({ $0.timers }).values { cancel() }
        broadcast.finish()
    }

    /// The state of the webhooks.
    ///
    /// Publishes the current health to each new subscriber, then every change, and finishes after ``stop()``. A
    /// subscriber without demand receives the latest value once it has demand.
    ///
    /// Values arrive on the main actor if it is subscribed there, else on a background thread, one after the other.
    /// Cancelling ends the subscription, not the registrar.
    public var health: AnyPublisher<WebhookHealth, Never> {
        broadcast.publisher.removeDuplicates().eraseToAnyPublisher()
    }

    /// Begins to register the webhooks and to check them, and returns at once; ``health`` publishes the progress. A
    /// second call does nothing, nor does a call after ``stop()``.
    public func start() {
        act { $0.machine.start(now: $1) }
    }

    /// Deletes the webhooks, and returns when they are deleted or ``Configuration/stopTimeout`` has passed; ``health``
    /// then has the number that is left. A program that ends without this call leaves webhooks to which the server goes
    /// on sending.
    public func stop() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLockedValue { state in
                if !state.hasEnded { state.waitingForEnd.append(continuation) }
                return state.hasEnded
            }
            if isOver { continuation.resume() } else { act { $0.machine.stop(now: $1) } }
        }
    }

    // MARK: Carrying out actions

    private func act(_ event: (inout State, NIODeadline) -> [RegistrarStateMachine.Action]) {
        let waiting = state.withLockedValue { state in
            // Actions report their results on other threads, and a broadcast calls no subscriber itself, so all of it
            // may run under the lock.
            for action in event(&state, time.now()) { lockedRun(action, &state) }
            defer { if state.hasEnded { state.waitingForEnd = [] } }
            return state.hasEnded ? state.waitingForEnd : []
        }
        for continuation in waiting { continuation.resume() }
    }

    private func lockedRun(_ action: RegistrarStateMachine.Action, _ state: inout State) {
        switch action {
        case .call(let call):
            state.call = Task {
                let result = await self.publisher(for: call).awaitSingleResult()
                // After a cancellation the result is not needed.
                if !Task.isCancelled { self.act { $0.machine.answered(WebhookAnswer(call, result), now: $1) } }
            }
        case .setTimer(let id, let instant):
            state.timers[id] = time.schedule(instant) { [weak self] in self?.rang(id) }
        case .report(let health):
            broadcast.send(health)
        case .finish:
            state.hasEnded = true
            state.call?.cancel()
            for cancel in state.timers.values { cancel() }
            state.timers = [:]
            broadcast.finish()
        }
    }

    private func rang(_ id: Int) {
        act { state, now in
            state.timers[id] = nil
            return state.machine.rang(id, now: now)
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
    /// The name of the database, without credentials and mark.
    public var description: String { "WebhookRegistrar(\"\(database.name)\")" }

    /// Shows the name of the database only, no secret.
    public var customMirror: Mirror { Mirror(self, children: ["database": database.name]) }
}
