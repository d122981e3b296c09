import Foundation

/// A FileMaker Server for tests: the Claris FileMaker Data API over real HTTP on loopback, with its records in memory.
///
/// It implements the protocol closely enough that Data API clients work with it unmodified: sessions, records, finds
/// with FileMaker's operators, portals, scripts, globals, containers, metadata, and the error codes with their HTTP
/// statuses.
///
/// ```swift
/// let sandbox = try await Sandbox.start()     // the sample database, on a free port
/// defer { sandbox.stopAndWait() }
/// print(sandbox.url)
/// ```
///
/// The requests of one session run one after the other, those of different sessions in parallel. Everything is
/// deterministic: record ids, tokens and container keys are derived from counters instead of being random, and time
/// comes from ``Configuration/clock``.
public final class Sandbox: Sendable {
    let engine: Engine
    private let server: SandboxServer

    private init(engine: Engine, server: SandboxServer) {
        self.engine = engine
        self.server = server
    }

    /// Starts a sandbox and returns when it accepts connections.
    ///
    /// Throws ``SolutionError`` if a solution refers to something missing or contradicts itself, ``PortError`` if the
    /// port cannot be used, and ``CertificateError`` if the certificate cannot be used.
    public static func start(
        _ solutions: [Solution] = [.sample],
        configuration: Configuration = Configuration()
    ) async throws -> Sandbox {
        let engine = try Engine(solutions, configuration: configuration)
        return Sandbox(engine: engine, server: try await SandboxServer.start(engine))
    }

    /// Starts a sandbox and blocks the thread until it accepts connections, for code that cannot await; see
    /// ``start(_:configuration:)``. It must not be called on an event loop.
    ///
    /// It has its own name because at the top level of a `main.swift` the compiler would choose the asynchronous
    /// function, which needs `await`.
    public static func startAndWait(
        _ solutions: [Solution] = [.sample],
        configuration: Configuration = Configuration()
    ) throws -> Sandbox {
        let engine = try Engine(solutions, configuration: configuration)
        return Sandbox(engine: engine, server: try SandboxServer.startAndWait(engine))
    }

    // MARK: Address

    /// `http` or `https`.
    public var scheme: String { engine.configuration.tls ? "https" : "http" }
    /// `127.0.0.1`: a sandbox cannot be reached from another machine.
    public var host: String { SandboxServer.address }
    /// The port on which the sandbox listens.
    public var port: Int { server.port }
    /// Host and port: `127.0.0.1:54321`.
    public var authority: String { "\(SandboxServer.address):\(port)" }
    /// The base URL without a path: `http://127.0.0.1:54321`.
    public var url: String { "\(scheme)://\(authority)" }

    /// The PEM file of the certificate authority that signed the certificate ``Certificate/loopback``, for clients over
    /// TLS. Its private key no longer exists, and it is valid for loopback names only.
    public static var certificateAuthorityFile: String { ServerCertificate.loopbackAuthorityFile }

    /// The PEM file of the certificate authority for this sandbox's certificate. nil without TLS, and for a certificate
    /// from files, whose authority is known to its owner.
    public var certificateAuthorityFile: String? { engine.certificate?.authorityFile }

    // MARK: Control

    /// Closes the socket and all connections, and returns when they are closed. A second call does nothing.
    public func stop() async {
        engine.webhookSender.stop()
        await server.stop()
    }

    /// Closes the socket and all connections, and blocks the thread until they are closed. It must not be called on an
    /// event loop.
    public func stopAndWait() {
        engine.webhookSender.stop()
        server.stopAndWait()
    }

    /// Counts of events since the start or the last ``reset()``.
    public var counters: Counters { engine.counters }

    /// Restores the records of the start, ends all sessions, resets the counters and removes faults and webhooks.
    ///
    /// A request that is running continues, but can no longer change anything.
    public func reset() { engine.reset() }

    /// Ends all sessions: the next request with one of their tokens is answered with 952.
    public func expireSessions() { engine.closeAllSessions() }

    /// Moves the sandbox's clock forward: idle sessions expire, and waits that are due end. Returns false if the clock
    /// cannot be moved, as the machine's own.
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

    /// Adds a fault for the next matching request or requests. Rules are tried in the order in which they were added.
    public func inject(_ fault: Fault, on endpoint: Endpoint? = nil, skipping: Int = 0, count: Int? = 1) {
        inject(FaultRule(fault, on: endpoint, skipping: skipping, count: count))
    }

    /// Adds a rule for a fault.
    public func inject(_ rule: FaultRule) { engine.withState { $0.faults.add(rule) } }

    /// The number of answers that are held now; see ``Fault/holdAnswer``.
    public var heldAnswerCount: Int { engine.heldAnswers.count }

    /// Returns once at least `count` answers are held, or the task is cancelled. The requests of held answers have been
    /// executed.
    public func untilAnswersHeld(_ count: Int = 1) async { await engine.heldAnswers.untilHeld(count) }

    /// Releases this many held answers, oldest first, or all of them by default. ``reset()`` releases all of them too.
    public func releaseAnswers(_ count: Int? = nil) { engine.heldAnswers.release(count) }

    /// Removes the faults that are still to come.
    public func clearFaults() { engine.withState { $0.faults = FaultScript() } }

    /// Signs an account in at the simulated OAuth provider. `requestId` is the `X-FMS-Request-ID` of
    /// `GET /oauth/getoauthurl`. Returns the identifier for the login; nil if the request id is unknown.
    public func signIn(account: String, oauthRequestId requestId: String) -> String? {
        engine.withState { $0.oauth.signIn(account: account, requestId: requestId) }
    }
}
