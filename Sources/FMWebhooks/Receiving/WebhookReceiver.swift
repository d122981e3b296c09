public import FMData
public import Foundation
public import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import OpenCombine

/// A small web server that takes in the webhooks of FileMaker Server 22.0.4 and later, and publishes what they hint at.
///
///     let receiver = WebhookReceiver(key: key, configuration: .init(host: "0.0.0.0", port: 8055)) { hint in
///         database.changed(hint)
///     }
///     try await receiver.start()
///
/// Every delivery that proves itself by the ``WebhookKey`` is answered 200 before anything is done with it; a wrong secret is
/// answered 401 and a wrong path 404. Hints of one table that come close together are one hint.
///
/// What comes in is a reason to look, no more: go on looking now and then, since hooks get stuck, are deleted, and miss what
/// truncates a table.
public final class WebhookReceiver: Sendable {
    /// Certificate and key of a receiver that speaks TLS. Servers are said to demand neither TLS nor, with it, a certificate of a
    /// known authority, but that is not documented.
    public struct TLSFiles: Sendable, Hashable {
        /// A PEM file: the certificate, with those that vouch for it behind it.
        public var certificate: String
        /// A PEM file with the private key, without a passphrase.
        public var key: String

        /// The two files, which are read at the start.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// How a receiver behaves.
    public struct Configuration: Sendable {
        /// The address to listen on. The default, `127.0.0.1`, is for a server on the same machine or a proxy in front;
        /// `0.0.0.0` listens on all.
        public var host: String
        /// The port. The default, 0, lets the system choose.
        public var port: Int
        /// What it shows over TLS. The default, `nil`, is plain HTTP.
        public var tls: TLSFiles?
        /// How many bytes of a body are kept. Of a longer one the rest is dropped, and it hints at its whole table. The default
        /// is 1 MiB.
        public var maximumBodyBytes: Int
        /// The greatest head of a request, in bytes; the connection of one that has more is closed. The default is 16 KiB.
        public var maximumHeadBytes: Int
        /// How many connections may be open at once. When there is one too many, that of a stranger is closed who has been connected
        /// longest without a request that proves itself; only when all have proved themselves it is the new one. So nobody who
        /// connects and says nothing keeps a host out. The default is 64.
        public var maximumConnections: Int
        /// How long a connection may take to bring a request, from the one before or from its beginning. The default is 30 s.
        public var requestTimeout: Duration
        /// How long the first hint of a table waits for others of it. The default is 100 ms.
        public var coalescing: Duration
        /// Gets one line for each request that is refused, without its path, its headers and its body. The default is none.
        public var logger: Logger?

        /// A configuration; see the properties.
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

    /// What has come in so far.
    public struct Counters: Sendable, Hashable {
        /// Deliveries answered 200.
        public var accepted = 0
        /// Requests answered 401 or 404.
        public var refused = 0
        /// Of the accepted ones, those that had more body than was kept.
        public var tooLong = 0
        /// Connections that were closed since there were too many, those of strangers that made room included.
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

    /// A receiver. It listens from ``start()`` on.
    ///
    /// - Parameters:
    ///   - key: what deliveries must prove themselves by; the same that a ``WebhookRegistrar`` registers.
    ///   - configuration: where it listens, and its limits.
    ///   - onHint: is called with each hint, one after the other, on a background thread. ``hints`` publishes the same.
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

    /// What deliveries hint at, for as long as the receiver listens.
    ///
    /// Publishes a hint for each table that may have changed, then finishes when the receiver stops. Hints from before the
    /// subscription are not repeated. While a subscriber asks for nothing, hints of one table become one, so none is lost and the
    /// queue stays short.
    ///
    /// Values arrive on the main actor for those who subscribe there, else on a background thread, one after the other. Cancelling
    /// ends the subscription, not the receiver.
    public var hints: AnyPublisher<DataAPI.ChangeHint, Never> { broadcast.publisher }

    /// What has come in so far.
    public var counters: Counters { state.withLockedValue(\.counters) }

    /// How many connections are open: for tests.
    var connectionCount: Int { state.withLockedValue(\.connections.count) }

    /// The port it listens on; `nil` when it does not listen.
    public var port: Int? { state.withLockedValue(\.listener)?.localAddress?.port }

    // MARK: Listening

    /// Why a receiver cannot listen.
    public struct StartError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, in one line.
        public var description: String
        /// The same: what `localizedDescription` says.
        public var errorDescription: String? { description }

        /// An error of your own making, for tests and doubles.
        public init(_ description: String) { self.description = description }
    }

    /// Begins to listen, and returns when it does. A receiver starts once.
    ///
    /// Throws ``StartError`` when the port is taken, the address is none of this machine, the certificate cannot be shown, or it was
    /// started before.
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
        // It was stopped meanwhile.
        if !isWanted { try? await listener.close().get() }
    }

    /// Closes the socket and all connections, hands over the hints that it holds, and finishes ``hints``. A second call does
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

    /// False for a connection too many. Another one may have to make room for it.
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

    /// Without the goodbye of TLS, for whose answer a stranger could let one wait.
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

    /// A request was refused.
    func refused(status: Int) {
        state.withLockedValue { $0.counters.refused += 1 }
        configuration.logger?.notice("webhook refused", metadata: ["status": "\(status)"])
    }

    /// A delivery was answered. Its body is `nil` when there was too much of it.
    func answered(path: String, headers: [(name: String, value: String)], body: [UInt8]?) {
        let verdict = decoder.verdict(
            method: "POST",
            path: path,
            headers: headers,
            body: body,
            receivedAt: time.date(time.now())
        )
        let action = state.withLockedValue { state in
            state.counters.accepted += 1
            if body == nil { state.counters.tooLong += 1 }
            guard let hint = verdict.hint, !state.isStopped else { return HintCoalescer.Action.none }
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
    /// A duration in nanoseconds; the greatest there is for one that has more.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isAlsoTooLong) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        self = .nanoseconds(isTooLong || isAlsoTooLong ? (seconds < 0 ? 0 : .max / 2) : sum)
    }
}
