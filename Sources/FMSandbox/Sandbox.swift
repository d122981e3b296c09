import Foundation

/// A FileMaker Server in a box: the Claris FileMaker Data API over real HTTP on loopback, with its records in memory.
///
/// It speaks the protocol well enough that Data API clients work against it unmodified: sessions, records, finds with
/// FileMaker's operators, portals, scripts, globals, containers, metadata, and the error codes with their HTTP statuses.
///
/// ```swift
/// let sandbox = try await Sandbox.start()     // the sample database, on a free port
/// defer { sandbox.stopAndWait() }
/// print(sandbox.url)
/// ```
///
/// Requests of one session run one after the other, sessions in parallel. Everything is deterministic: record ids, tokens
/// and container keys are counted, not drawn, and time comes from ``Configuration/clock``.
public final class Sandbox: Sendable {
    let engine: Engine
    private let server: SandboxServer

    private init(engine: Engine, server: SandboxServer) {
        self.engine = engine
        self.server = server
    }

    /// Starts a sandbox and returns when it listens.
    ///
    /// Throws ``SolutionError`` when a solution names something that is not there or contradicts itself, ``PortError`` when the
    /// port is taken, and ``CertificateError`` when a certificate cannot be shown.
    public static func start(
        _ solutions: [Solution] = [.sample],
        configuration: Configuration = Configuration()
    ) async throws -> Sandbox {
        let engine = try Engine(solutions, configuration: configuration)
        return Sandbox(engine: engine, server: try await SandboxServer.start(engine))
    }

    /// Starts a sandbox for code that cannot await, blocking its thread; see ``start(_:configuration:)``. Not to be called on
    /// an event loop.
    ///
    /// It has a name of its own: at the top level of a `main.swift` the compiler would take it for what `await` asks for.
    public static func startAndWait(
        _ solutions: [Solution] = [.sample],
        configuration: Configuration = Configuration()
    ) throws -> Sandbox {
        let engine = try Engine(solutions, configuration: configuration)
        return Sandbox(engine: engine, server: try SandboxServer.startAndWait(engine))
    }

    // MARK: Where it is

    /// `http` or `https`.
    public var scheme: String { engine.configuration.tls ? "https" : "http" }
    /// `127.0.0.1`: a sandbox is never to be reached from another machine.
    public var host: String { SandboxServer.address }
    /// The port it listens on.
    public var port: Int { server.port }
    /// Host and port: `127.0.0.1:54321`.
    public var authority: String { "\(SandboxServer.address):\(port)" }
    /// Where clients find it: `http://127.0.0.1:54321`, without a path.
    public var url: String { "\(scheme)://\(authority)" }

    /// The PEM file of the certificate authority that vouches for the certificate ``Certificate/loopback``, for clients over
    /// TLS. Its private key no longer exists, and it is valid for loopback names alone.
    public static var certificateAuthorityFile: String { ServerCertificate.loopbackAuthorityFile }

    /// The PEM file that vouches for this sandbox's certificate. nil without TLS, and for a certificate from files, whose owner
    /// knows who vouches for it.
    public var certificateAuthorityFile: String? { engine.certificate?.authorityFile }

    // MARK: What it does

    /// Closes the socket and all connections. A second call does nothing.
    public func stop() async {
        engine.webhookSender.stop()
        await server.stop()
    }

    /// Closes the socket and all connections, and waits for it. Not to be called on an event loop.
    public func stopAndWait() {
        engine.webhookSender.stop()
        server.stopAndWait()
    }

    /// What has happened so far.
    public var counters: Counters { engine.counters }

    /// Puts the records back as they were at the start, ends all sessions, and sets counters, faults and webhooks to nothing.
    ///
    /// A request that is running goes on, but changes nothing any more.
    public func reset() { engine.reset() }

    /// Ends all sessions: the next request with one of their tokens answers 952.
    public func expireSessions() { engine.closeAllSessions() }

    /// Moves the sandbox's clock on: sessions that have rested for too long are gone, and what waits for the time to pass goes
    /// on. False when its clock is none that can be moved, as the machine's own.
    @discardableResult
    public func advanceClock(by duration: Duration) -> Bool {
        guard let clock = engine.clock as? any AdvancingClock else { return false }
        clock.advance(by: duration)
        return true
    }

    /// Restarts the engine: sessions end and connections are closed; the records stay.
    public func restart() {
        server.dropConnections(before: engine.closeAllSessions(isRestart: true, dropsConnections: true))
    }

    /// Lets something go wrong with the next matching request or requests. Rules are tried in the order they were added.
    public func inject(_ fault: Fault, on endpoint: Endpoint? = nil, skipping: Int = 0, count: Int? = 1) {
        inject(FaultRule(fault, on: endpoint, skipping: skipping, count: count))
    }

    /// Adds a rule for something to go wrong.
    public func inject(_ rule: FaultRule) { engine.withState { $0.faults.add(rule) } }

    /// How many answers are held at the moment; see ``Fault/holdAnswer``.
    public var heldAnswerCount: Int { engine.heldAnswers.count }

    /// Returns once at least `count` answers are held: their requests have been executed by then. Returns too when the task is
    /// cancelled.
    public func untilAnswersHeld(_ count: Int = 1) async { await engine.heldAnswers.untilHeld(count) }

    /// Lets held answers go, the oldest first: so many, or all of them by default. ``reset()`` lets all go too.
    public func releaseAnswers(_ count: Int? = nil) { engine.heldAnswers.release(count) }

    /// Forgets the faults that are still to come.
    public func clearFaults() { engine.withState { $0.faults = FaultScript() } }

    /// Signs an account in at the played OAuth provider, and returns the identifier for the login; `requestId` is the
    /// `X-FMS-Request-ID` of `GET /oauth/getoauthurl`. nil for an id that is unknown.
    public func signIn(account: String, oauthRequestId requestId: String) -> String? {
        engine.withState { $0.oauth.signIn(account: account, requestId: requestId) }
    }
}
