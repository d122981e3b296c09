public import FMData
public import Foundation
public import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import OpenCombine

/// A small web server that receives the webhooks of FileMaker Server 22.0.4 and later, and publishes hints about
/// changes.
///
///     let receiver = WebhookReceiver(key: key, configuration: .init(host: "0.0.0.0", port: 8055)) { hint in
///         database.changed(hint)
///     }
///     try await receiver.start()
///
/// Every delivery that has the mark and the secret of the ``WebhookKey`` is answered 200 before it is processed; a
/// wrong secret is answered 401 and a wrong path 404. Hints of one table that arrive close together become one hint.
///
/// A hint is only a reason to poll: keep polling now and then, since webhooks get stuck, are deleted, and do not report
/// when a table is truncated.
public final class WebhookReceiver: Sendable {
    /// The certificate and key of a receiver that uses TLS. Servers are said to require neither TLS nor, with it, a
    /// certificate of a known authority, but that is not documented.
    public struct TLSFiles: Sendable, Hashable {
        /// The path of a PEM file with the certificate, followed by its intermediate certificates.
        public var certificate: String
        /// The path of a PEM file with the private key, without a passphrase.
        public var key: String

        /// The paths of the two files. They are read by ``WebhookReceiver/start()``.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The settings of a receiver.
    public struct Configuration: Sendable {
        /// The address to listen on. The default, `127.0.0.1`, is for a server on the same machine or a proxy in front;
        /// `0.0.0.0` listens on all addresses.
        public var host: String
        /// The port. The default, 0, lets the system choose one.
        public var port: Int
        /// The certificate for TLS. The default, `nil`, is plain HTTP.
        public var tls: TLSFiles?
        /// The largest body that is kept, in bytes. A longer one is dropped, and its hint is about the whole table. The
        /// default is 1 MiB.
        public var maximumBodyBytes: Int
        /// The largest head of a request, in bytes; a connection that sends more is closed. The default is 16 KiB.
        public var maximumHeadBytes: Int
        /// The largest number of open connections. A new one beyond it replaces the oldest connection that has not yet
        /// sent an authenticated request; if there is none, the new one is closed. So connections that send nothing
        /// cannot keep a host out. The default is 64.
        public var maximumConnections: Int
        /// How long a connection may take to send a request, counted from the one before or from its beginning. The
        /// default is 30 s.
        public var requestTimeout: Duration
        /// How long the first hint of a table waits for more hints of the table. The default is 100 ms.
        public var coalescing: Duration
        /// Receives one line for each rejected request, without its path, headers and body. The default is none.
        public var logger: Logger?

        /// A configuration; each property documents its part and its default.
        public init(
            host: String = "127.0.0.1",
            port: Int = 0,
            tls: TLSFiles? = nil,
            maximumBodyBytes: Int = 1 << 20,
            maximumHeadBytes: Int = 16 << 10,
            maximumConnections: Int = 64,
            requestTimeout: Duration = .seconds(30),
            coalescing: Duration = .milliseconds(100),
            logger: Logger? = nil
        ) {
            self.host = host
            self.port = port
            self.tls = tls
            self.maximumBodyBytes = maximumBodyBytes
            self.maximumHeadBytes = maximumHeadBytes
            self.maximumConnections = maximumConnections
            self.requestTimeout = requestTimeout
            self.coalescing = coalescing
            self.logger = logger
        }
    }

    /// The numbers of requests so far.
    public struct Counters: Sendable, Hashable {
        /// Deliveries answered 200.
        public var accepted = 0
        /// Requests answered 401 or 404.
        public var refused = 0
        /// The accepted deliveries whose body exceeded the limit.
        public var tooLong = 0
        /// Connections closed because there were too many, including those that were replaced by a new one.
        public var turnedAway = 0
    }

    private struct State {
        var coalescer: HintCoalescer
        var counters = Counters()
        var listener: (any Channel)?
        var connections: ConnectionRoster<ObjectIdentifier, any Channel>
        var hasStarted = false
        var isStopped = false
    }

    let decoder: WebhookDecoder
    let configuration: Configuration
    private let time: SessionTime
    private let broadcast = Broadcast(queueing: DataAPI.ChangeHint.queue)
    private let state: NIOLockedValueBox<State>

    /// A receiver. It listens after ``start()``.
    ///
    /// - Parameters:
    ///   - key: the mark and the secret that deliveries must have; the same that a ``WebhookRegistrar`` registers.
    ///   - configuration: the address, and the limits.
    ///   - onHint: is called with each hint, one after the other, on a background thread. ``hints`` publishes the same
    ///     hints.
    public convenience init(
        key: WebhookKey,
        configuration: Configuration = Configuration(),
        onHint: (@Sendable (DataAPI.ChangeHint) -> Void)? = nil
    ) {
        let time = SessionTime.running(on: MultiThreadedEventLoopGroup.singleton.any(), wallClock: { Date() })
        self.init(key: key, configuration: configuration, time: time, onHint: onHint)
    }

    init(
        key: WebhookKey,
        configuration: Configuration,
        time: SessionTime,
        onHint: (@Sendable (DataAPI.ChangeHint) -> Void)?
    ) {
        decoder = WebhookDecoder(key: key)
        self.configuration = configuration
        self.time = time
        state = NIOLockedValueBox(
            State(
                coalescer: HintCoalescer(window: TimeAmount(configuration.coalescing)),
                connections: ConnectionRoster(limit: configuration.maximumConnections)
            )
        )
        if let onHint { broadcast.listen(onHint) }
    }

    deinit {
        broadcast.finish()
        state.withLockedValue { $0.listener }?.close(promise: nil)
    }

    /// The hints of deliveries, as long as the receiver listens.
    ///
    /// Publishes a hint for each table that may have changed, and finishes when the receiver stops. Hints from before
    /// the subscription are not repeated. While a subscriber has no demand, hints of one table are merged, so none is
    /// lost and the queue stays short.
    ///
    /// Values arrive on the main actor if it is subscribed there, else on a background thread, one after the other.
    /// Cancelling ends the subscription, not the receiver.
    public var hints: AnyPublisher<DataAPI.ChangeHint, Never> { broadcast.publisher }

    /// The numbers of requests so far.
    public var counters: Counters { state.withLockedValue(\.counters) }

    /// The number of open connections, for tests.
    var connectionCount: Int { state.withLockedValue(\.connections.count) }

    /// The port that it listens on; `nil` when it does not listen.
    public var port: Int? { state.withLockedValue(\.listener)?.localAddress?.port }

    // MARK: Listening

    /// The reason why a receiver cannot listen.
    public struct StartError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
        /// The reason, in one line.
        public var description: String
        /// The same text, for `localizedDescription`.
        public var errorDescription: String? { description }

        /// An error, for tests and test doubles.
        public init(_ description: String) { self.description = description }
    }

    /// Begins to listen, and returns when it does. A receiver can be started once.
    ///
    /// Throws ``StartError`` if the port is in use, the address does not belong to this machine, the certificate cannot
    /// be used, or the receiver was started before.
    public func start() async throws(StartError) {
        let isFirst = state.withLockedValue { state in
            defer { state.hasStarted = true }
            return !state.hasStarted && !state.isStopped
        }
        guard isFirst else { throw StartError("A receiver starts once; make another one.") }
        let tls = try configuration.tls.map { files throws(StartError) in try Self.context(files) }
        let listener: any Channel
        do {
            listener = try await bootstrap(tls).bind(host: configuration.host, port: configuration.port).get()
        } catch {
            throw StartError("Cannot listen on \(configuration.host):\(configuration.port): \(error)")
        }
        let isWanted = state.withLockedValue { state in
            if !state.isStopped { state.listener = listener }
            return !state.isStopped
        }
        // The receiver was stopped meanwhile.
        if !isWanted { try? await listener.close().get() }
    }

    /// Closes the socket and all connections, publishes the delayed hints, and finishes ``hints``. A second call does
    /// nothing.
    public func stop() async {
        let (channels, hints) = state.withLockedValue { state in
            state.isStopped = true
            defer { state.listener = nil }
            return ([state.listener].compactMap(\.self) + state.connections.all, state.coalescer.all())
        }
        for hint in hints { broadcast.send(hint) }
        broadcast.finish()
        for channel in channels { try? await channel.close().get() }
    }

    private func bootstrap(_ tls: NIOSSLContext?) -> ServerBootstrap {
        ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [weak self] channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let self, self.admit(channel) else { throw ChannelError.ioOnClosedChannel }
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try WebhookHandler.add(to: channel.pipeline.syncOperations, for: self)
                }
            }
    }

    /// Registers a connection, perhaps closing another one for it. Returns `false` if there are too many.
    func admit(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let admission = state.withLockedValue { state in
            if state.isStopped { return ConnectionRoster<ObjectIdentifier, any Channel>.Admission.turnedAway }
            let admission = state.connections.admit(id, channel)
            if case .admitted = admission { return admission }
            state.counters.turnedAway += 1
            return admission
        }
        switch admission {
        case .admitted: break
        case .admittedInsteadOf(let stranger): Self.closeAbruptly(stranger)
        case .turnedAway: return false
        }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLockedValue { $0.connections.left(id) }
        }
        return true
    }

    /// Closes without the close_notify of TLS: the other side could delay its answer to that.
    private static func closeAbruptly(_ channel: any Channel) {
        channel.eventLoop.execute {
            if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                channel.close(promise: nil)
            }
        }
    }

    private static func context(_ files: TLSFiles) throws(StartError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem))
            )
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw StartError("The certificate \(files.certificate) with the key \(files.key) cannot be shown: \(error)")
        }
    }

    // MARK: From the connections

    /// A request has the secret and the mark.
    func provedItself(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        state.withLockedValue { $0.connections.provedItself(id) }
    }

    /// A request was rejected.
    func refused(status: Int) {
        state.withLockedValue { $0.counters.refused += 1 }
        configuration.logger?.notice("webhook refused", metadata: ["http.status": "\(status)"])
    }

    /// A delivery was answered. Its body is `nil` if it exceeded the limit.
    func answered(path: String, headers: [(name: String, value: String)], body: [UInt8]?) {
        let outcome = decoder.outcome(
            method: "POST",
            path: path,
            headers: headers,
            body: body,
            receivedAt: time.date(time.now())
        )
        let action = state.withLockedValue { state in
            state.counters.accepted += 1
            if body == nil { state.counters.tooLong += 1 }
            guard let hint = outcome.hint, !state.isStopped else { return HintCoalescer.Action.none }
            return state.coalescer.received(hint, now: time.now())
        }
        guard case .schedule(let subject, let instant) = action else { return }
        _ = time.schedule(instant) { [weak self] in
            guard let self, let hint = state.withLockedValue({ $0.coalescer.due(subject) }) else { return }
            broadcast.send(hint)
        }
    }
}

extension TimeAmount {
    /// Converts a duration to nanoseconds. Below the range it becomes 0, above it half of the greatest `Int64`.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isAlsoTooLong) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        self = .nanoseconds(isTooLong || isAlsoTooLong ? (seconds < 0 ? 0 : .max / 2) : sum)
    }
}
