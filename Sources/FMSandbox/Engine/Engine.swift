import Foundation
import NIOConcurrencyHelpers

/// Everything a sandbox holds, behind one lock: the records, the sessions, the counters. Reads take a copy of the world
/// and leave; only writes work while they hold the lock.
final class Engine: Sendable {
    struct State: Sendable {
        var world: World
        /// Counts its changes.
        var worldVersion = 0
        /// How many transactions were opened so far.
        var transactionCount = 0
        var sessions: [String: Session] = [:]
        /// How often it was restarted.
        var era = 0
        /// How often a restart dropped the connections too. A connection belongs to the generation in which it was accepted.
        var generation = 0
        var counters = Sandbox.Counters()
        var runningRequests = 0
        /// How many tokens were made so far: the sandbox counts instead of drawing at random.
        var tokenCount = 0
        /// How many there were at the last reset. Sessions up to here belong to a world that is gone.
        var bygoneTokens = 0
        /// Containers that may be downloaded, by the key in their URL.
        var tickets: [String: ContainerTicket] = [:]
        var faults = FaultScript()
        var oauth = OAuthProvider()
        var throttle = LoginThrottle()
        var webhooks = WebhookBoard()

        /// Refuses a session of a world that was put back.
        func check(_ session: Session?) throws {
            if let session, session.number <= bygoneTokens { throw FileMakerError(952) }
        }
    }

    let solutions: [Solution]
    let model: Model
    let configuration: Sandbox.Configuration
    let traits: ServerTraits
    /// nil without TLS.
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

    /// The wall clock of the host.
    var now: CivilTimestamp { CivilTimestamp(clock.now, in: traits.timeZone) }

    /// The wall clock as HTTP writes it.
    var httpDate: String { CivilTimestamp(clock.now, in: .gmt).httpDate }

    var world: World { state.withLockedValue { $0.world } }

    func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLockedValue(body)
    }

    /// Changes the world as one commit: if the body throws, nothing has happened.
    ///
    /// - Parameter session: Whose request it is, unless it is the host itself. One that ran while the world was put back
    ///   does not change the new one.
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

    /// As after the start: the records of the solutions, no sessions, counters at zero, no faults.
    func reset() {
        state.withLockedValue { state in
            var fresh = State(world: initialWorld)
            // Old tokens must stay unknown, and what runs at this moment still ends.
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
