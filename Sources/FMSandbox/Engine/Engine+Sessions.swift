import Foundation
import NIOConcurrencyHelpers

/// The sessions of a host, and the containers that they may download.
extension Engine {
    /// Opens a session, or throws if the maximum is reached.
    ///
    /// - Parameters:
    ///   - era: The era in which the request arrived.
    ///   - generation: The generation of its connection.
    func open(
        in era: Int,
        from generation: Int,
        _ makeSession: (_ number: Int, _ token: String, _ now: Date) -> Session
    ) throws -> Session {
        let now = clock.now
        return try withState { state in
            // A request from before a restart has lost its connection: no client would ever log this session out.
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
            state.counters.mostOpenSessions = max(state.counters.mostOpenSessions, state.sessions.count)
            return session
        }
    }

    /// The session of a token, whose idle time starts again; nil if there is none or it has expired.
    func session(_ token: String) -> Session? {
        let now = clock.now
        return withState { state in
            expire(&state, now: now)
            guard let session = state.sessions[token] else { return nil }
            return session.state.withLockedValue { state in
                guard !state.isRefused else { return nil }
                state.lastUsed = now
                return session
            }
        }
    }

    /// Ends the session of a token. Returns false if the database of that spelling has no such session.
    func close(_ token: String, spelling: String) -> Bool {
        withSession(token, spelling: spelling) { _, state in logOut(token, &state) }
    }

    /// Keeps the session of a token usable after its logout for a duration, or until it expires if that is nil. Returns
    /// false in the same cases as ``close(_:spelling:)``.
    func delayLogout(of token: String, spelling: String, by duration: Duration?) -> Bool {
        withSession(token, spelling: spelling) { session, _ in
            guard let duration else { return }
            session.state.withLockedValue { $0.end = clock.now + duration.seconds }
        }
    }

    private func withSession(_ token: String, spelling: String, _ body: (Session, inout State) -> Void) -> Bool {
        let now = clock.now
        return withState { state in
            expire(&state, now: now)
            guard let session = state.sessions[token], session.spelling == spelling else { return false }
            body(session, &state)
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

    /// Whether containers are downloaded without a token. Servers have had the preference that requires one since
    /// version 19.
    var containersAreOpen: Bool { version < .v19 || traits.containerStreaming == .open }

    /// Removes the container URLs that are no longer valid.
    private func dropTickets(_ state: inout State) {
        guard !state.tickets.isEmpty else { return }
        let (now, lifetime) = (clock.now, traits.sessionLifetime.seconds)
        let sessions = state.sessions
        state.tickets = state.tickets.filter { _, ticket in
            sessions[ticket.token] != nil
                || (containersAreOpen && now.timeIntervalSince(ticket.handedOut) <= lifetime)
        }
    }

    /// The container value of a URL; nil if the URL is no longer valid.
    func ticket(_ key: String) -> ContainerTicket? {
        let now = clock.now
        return withState { state in
            expire(&state, now: now)
            dropTickets(&state)
            guard let ticket = state.tickets[key] else { return nil }
            state.sessions[ticket.token]?.state.withLockedValue { $0.lastUsed = now }
            return ticket
        }
    }

    /// Ends every session, as a restart does. With `dropsConnections`, also starts a new generation of connections, as
    /// a restart of the web server does. Returns the generation whose connections stay open.
    @discardableResult
    func closeAllSessions(isRestart: Bool = false, dropsConnections: Bool = false) -> Int {
        withState { state in
            state.sessions = [:]
            dropTickets(&state)
            if isRestart {
                state.era += 1
                state.tickets = [:]
                state.webhooks.restart()
            }
            if dropsConnections { state.generation += 1 }
            return state.generation
        }
    }

    func expire(_ state: inout State, now: Date) {
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
}

/// A container value that a client may download. It is created when its URL is sent, and removed with the session or,
/// if downloads are open, when its lifetime has passed.
struct ContainerTicket: Sendable {
    var token: String
    var content: ContainerContent
    var handedOut: Date
}
