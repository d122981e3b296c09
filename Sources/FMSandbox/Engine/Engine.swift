import Foundation
import NIOConcurrencyHelpers

/// All state of a sandbox behind one lock: the records, the sessions, the counters. Reads copy the world and release
/// the lock; only writes work while they hold it.
final class Engine: Sendable {
    struct State: Sendable {
        var world: World
        /// The number of changes to the world.
        var worldVersion = 0
        /// The number of transactions opened so far.
        var transactionCount = 0
        var sessions: [String: Session] = [:]
        /// The number of restarts.
        var era = 0
        /// The number of restarts that dropped the connections too. A connection belongs to the generation in which it
        /// was accepted.
        var generation = 0
        var counters = Sandbox.Counters()
        var runningRequests = 0
        /// The number of tokens made so far. Tokens are derived from it instead of being random.
        var tokenCount = 0
        /// The value of `tokenCount` at the last reset. Sessions up to this number belong to the world before it.
        var bygoneTokens = 0
        /// Containers that may be downloaded, by the key in their URL.
        var tickets: [String: ContainerTicket] = [:]
        var faults = FaultScript()
        var oauth = OAuthProvider()
        var throttle = LoginThrottle()
        var webhooks = WebhookBoard()

        /// Throws 952 for a session from before the last reset.
        func check(_ session: Session?) throws {
            if let session, session.number <= bygoneTokens { throw FileMakerError(952) }
        }
    }

    let solutions: [Solution]
    let model: Model
    let configuration: Sandbox.Configuration
    let traits: ServerTraits
    /// The TLS certificate; nil without TLS.
    let certificate: ServerCertificate?
    let heldAnswers = HeldAnswers()
    let webhookSender = WebhookSender()
    private let initialWorld: World
    private let state: NIOLockedValueBox<State>

    init(_ solutions: [Solution], configuration: Sandbox.Configuration) throws {
        traits = try ServerTraits(configuration, solutions)
        let built = try ModelBuilder.build(solutions, ignoresNameCase: traits.ignoresNameCase)
        self.solutions = solutions
        model = built.model
        initialWorld = built.world
        self.configuration = configuration
        state = NIOLockedValueBox(State(world: built.world))
        certificate = configuration.tls ? try ServerCertificate(configuration.certificate) : nil
    }

    var clock: any SandboxClock { configuration.clock }
    var version: Sandbox.ServerVersion { traits.version }

    /// The time on the host's wall clock.
    var now: CivilTimestamp { CivilTimestamp(clock.now, in: traits.timeZone) }

    /// The time as an HTTP date.
    var httpDate: String { CivilTimestamp(clock.now, in: .gmt).httpDate }

    var world: World { state.withLockedValue { $0.world } }

    func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLockedValue(body)
    }

    /// Changes the world as one commit: if the body throws, the world is unchanged.
    ///
    /// - Parameter session: The session of the request; nil if the host itself makes the change. A session from before
    ///   a reset cannot change the new world.
    func commit<Result>(in session: Session? = nil, _ body: (inout World) throws -> Result) throws -> Result {
        let (result, idleWebhooks) = try state.withLockedValue { state in
            try state.check(session)
            var draft = state.world
            let result = try body(&draft)
            return (result, put(draft, in: &state))
        }
        deliver(idleWebhooks)
        return result
    }

    func viewpoint(of session: Session) -> Viewpoint {
        session.state.withLockedValue { state in
            let sets = state.openedDatabases.merging([session.database: session.privileges]) { $1 }
            return Viewpoint(
                account: session.account.name,
                globals: state.globals,
                closedDatabases: state.closedDatabases,
                visibleRecords: sets.reduce(into: [:]) { conditions, opened in
                    conditions.merge(model.databases[opened.key].visibleRecords[opened.value.name] ?? [:]) { $1 }
                },
                now: now
            )
        }
    }

    // MARK: Inspection

    var counters: Sandbox.Counters {
        let now = clock.now
        return state.withLockedValue { state in
            expire(&state, now: now)
            var counters = state.counters
            counters.openSessions = state.sessions.count
            return counters
        }
    }

    /// The open sessions in the order of their logins.
    var openSessions: [Session] {
        let now = clock.now
        return state.withLockedValue { state in
            expire(&state, now: now)
            return state.sessions.values.sorted { $0.number < $1.number }
        }
    }

    /// Restores the state after the start: the records of the solutions, no sessions, counters at zero, no faults.
    func reset() {
        state.withLockedValue { state in
            var fresh = State(world: initialWorld)
            // Old tokens must stay unknown, and requests that are running will still end.
            fresh.tokenCount = state.tokenCount
            fresh.worldVersion = state.worldVersion + 1
            fresh.transactionCount = state.transactionCount
            fresh.bygoneTokens = state.tokenCount
            fresh.runningRequests = state.runningRequests
            fresh.era = state.era
            fresh.generation = state.generation
            fresh.webhooks = state.webhooks
            fresh.webhooks.reset()
            state = fresh
        }
        heldAnswers.release()
    }
}
