import Foundation
import NIOConcurrencyHelpers

/// Everything a sandbox holds, behind one lock: the records, the sessions, the counters. Reads take a copy of the world
/// and leave; only writes work while they hold the lock.
final class Engine: Sendable {
    struct State: Sendable {
        var world: World
        var sessions: [String: Session] = [:]
        /// Counts the restarts.
        var era = 0
        /// Counts those that dropped the connections, too.
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
    }

    let solutions: [Solution]
    let model: Model
    let configuration: Sandbox.Configuration
    let traits: ServerTraits
    /// nil without TLS.
    let certificate: ServerCertificate?
    let heldAnswers = HeldAnswers()
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
        try state.withLockedValue { state in
            if let session, session.number <= state.bygoneTokens { throw FileMakerError(952) }
            var draft = state.world
            let result = try body(&draft)
            state.world = draft
            return result
        }
    }

    // MARK: Sessions

    /// Opens a session, or refuses one too many.
    ///
    /// - Parameters:
    ///   - era: the one in which the request arrived.
    ///   - generation: the one of its connection.
    func open(
        in era: Int,
        from generation: Int,
        _ makeSession: (_ number: Int, _ token: String, _ now: Date) -> Session
    ) throws -> Session {
        let now = clock.now
        return try state.withLockedValue { state in
            // Whoever asked before a restart has lost the connection: nobody would ever log this session out.
            guard state.era == era, state.generation == generation else { throw FileMakerError(1701) }
            expire(&state, now: now)
            guard state.sessions.count < configuration.maximumSessions else {
                throw FileMakerError(configuration.sessionLimitCode)
            }
            state.tokenCount += 1
            let token = Scrambler.hex(52, seed: "session", number: state.tokenCount)
            let session = makeSession(state.tokenCount, token, now)
            state.sessions[session.token] = session
            state.counters.logins += 1
            return session
        }
    }

    /// The session of a token, its fifteen minutes begun anew; nil when there is none or it has expired.
    func session(_ token: String) -> Session? {
        let now = clock.now
        return state.withLockedValue { state in
            expire(&state, now: now)
            guard let session = state.sessions[token], !session.isRefused else { return nil }
            session.state.withLockedValue { $0.lastUsed = now }
            return session
        }
    }

    /// When a logout ends its session.
    enum SessionEnd: Equatable {
        case now
        case after(Duration)
        /// Not before it expires.
        case never
    }

    /// Ends the session of a token; false when there is none in the database of that spelling.
    func close(_ token: String, spelling: String, _ end: SessionEnd = .now) -> Bool {
        let now = clock.now
        return state.withLockedValue { state in
            expire(&state, now: now)
            guard let session = state.sessions[token], session.spelling == spelling else { return false }
            switch end {
            case .now: logOut(token, &state)
            case .after(let duration): session.state.withLockedValue { $0.end = now + duration.seconds }
            case .never: break
            }
            return true
        }
    }

    private func logOut(_ token: String, _ state: inout State) {
        end(token, &state)
        state.counters.logouts += 1
    }

    private func end(_ token: String, _ state: inout State) {
        state.sessions[token] = nil
        dropTickets(&state)
    }

    /// Whether containers are downloaded without a token. The preference that asks for one came with version 19.
    var containersAreOpen: Bool { version < .v19 || traits.containerStreaming == .open }

    /// Drops the container addresses that are good no more.
    private func dropTickets(_ state: inout State) {
        guard !state.tickets.isEmpty else { return }
        let (now, lifetime) = (clock.now, traits.sessionLifetime.seconds)
        let sessions = state.sessions
        state.tickets = state.tickets.filter { _, ticket in
            sessions[ticket.token] != nil
                || (containersAreOpen && now.timeIntervalSince(ticket.handedOut) <= lifetime)
        }
    }

    /// The container value behind an address; nil when it is good no more.
    func ticket(_ key: String) -> ContainerTicket? {
        let now = clock.now
        return state.withLockedValue { state in
            expire(&state, now: now)
            dropTickets(&state)
            guard let ticket = state.tickets[key] else { return nil }
            state.sessions[ticket.token]?.state.withLockedValue { $0.lastUsed = now }
            return ticket
        }
    }

    /// Ends every session, as a restart does; with `dropsConnections` one of the web server's, too. Returns the generation of
    /// connections that are to stay.
    @discardableResult
    func closeAllSessions(isRestart: Bool = false, dropsConnections: Bool = false) -> Int {
        state.withLockedValue { state in
            state.sessions = [:]
            dropTickets(&state)
            if isRestart {
                state.era += 1
                state.tickets = [:]
            }
            if dropsConnections { state.generation += 1 }
            return state.generation
        }
    }

    private func expire(_ state: inout State, now: Date) {
        let lifetime = traits.sessionLifetime.seconds
        for (token, session) in state.sessions {
            let (lastUsed, logout) = session.state.withLockedValue { ($0.lastUsed, $0.end) }
            if let logout, logout <= now {
                logOut(token, &state)
                continue
            }
            // A session whose request is still running is in use, however long that takes.
            guard !session.gate.isBusy, now.timeIntervalSince(lastUsed) > lifetime else { continue }
            end(token, &state)
            state.counters.expiredSessions += 1
        }
    }

    func viewpoint(of session: Session) -> Viewpoint {
        session.state.withLockedValue { state in
            Viewpoint(
                account: session.account.name,
                globals: state.globals,
                closedDatabases: state.closedDatabases,
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
            fresh.bygoneTokens = state.tokenCount
            fresh.runningRequests = state.runningRequests
            fresh.era = state.era
            fresh.generation = state.generation
            state = fresh
        }
        heldAnswers.release()
    }
}

/// A container value that a client may download: made when its URL is handed out, and gone with the session, or where
/// downloads are open when its time has run out.
struct ContainerTicket: Sendable {
    var token: String
    var content: ContainerContent
    var handedOut: Date
}

/// Makes texts that look drawn at random and are the same in every run.
enum Scrambler {
    /// `count` hexadecimal digits for the `number`th thing of a kind.
    static func hex(_ count: Int, seed: String, number: Int, uppercase: Bool = false) -> String {
        var state = seed.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        state ^= UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15
        var digits = ""
        while digits.count < count {
            // splitmix64
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            word ^= word >> 31
            let part = String(word, radix: 16, uppercase: uppercase)
            digits += String(repeating: "0", count: 16 - part.count) + part
        }
        return String(digits.prefix(count))
    }
}
