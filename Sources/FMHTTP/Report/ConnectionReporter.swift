internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

extension HTTPClient {
    /// Looks at the way to an origin, as requests take it: through the same proxy, by the same look-up. Sends no
    /// request. A report that its task no longer wants closes its connections.
    ///
    /// - Parameter limit: How long each step may take: the look-up, the connections together, the handshake; `nil` for
    ///   no limit.
    package func connectionReport(on origin: Origin, limit: Duration?) async -> ConnectionReport {
        let reporter = ConnectionReporter(
            origin: origin,
            configuration: configuration,
            runtime: runtime,
            limit: limit.map(TimeAmount.init(clamping:))
        )
        return await withTaskCancellationHandler {
            await reporter.report()
        } onCancel: {
            reporter.channels.close()
        }
    }
}

/// Takes the way to an origin step by step, and notes what is there.
struct ConnectionReporter: Sendable {
    /// How long other addresses may still be silent when one has answered.
    static let grace = TimeAmount.seconds(2)

    let channels = ReportChannels()
    private let origin: Origin
    private let proxy: ProxyResolver
    private let tls: TLSOptions
    private let lookUp: HostResolver.LookUp
    private let parserLimits: ResponseParser.Limits
    private let runtime: Runtime
    private let eventLoop: any EventLoop
    private let limit: TimeAmount?

    init(origin: Origin, configuration: HTTPClientConfiguration, runtime: Runtime, limit: TimeAmount?) {
        self.origin = origin
        proxy = ProxyResolver(configuration.proxy)
        tls = configuration.tls
        lookUp = configuration.lookUp
        parserLimits = ResponseParser.Limits(configuration)
        self.runtime = runtime
        eventLoop = runtime.eventLoopGroup.next()
        self.limit = limit
    }

    func report() async -> ConnectionReport {
        defer { channels.close() }
        var report = ConnectionReport(host: origin.host, port: origin.port)
        do {
            let proxy = try self.proxy.proxy(for: origin)
            if let proxy { (report.host, report.port, report.isProxy) = (proxy.host, proxy.port, true) }
            let addresses = try await addresses(&report)
            report.addresses = await connect(to: addresses)
            let answering = try answering(addresses, report.addresses)
            if origin.scheme == .https || proxy != nil { report.tls = try await handshake(with: answering, via: proxy) }
        } catch let error as HTTPClientError {
            report.failure = error
        } catch {
            report.failure = .connecting(error, origin: origin)
        }
        return report
    }

    // MARK: Addresses

    private func addresses(_ report: inout ConnectionReport) async throws -> [SocketAddress] {
        let start = runtime.now
        let resolver = HostResolver(eventLoop: eventLoop, lookUp: lookUp)
        let v6 = resolver.initiateAAAAQuery(host: report.host, port: report.port)
        let v4 = resolver.initiateAQuery(host: report.host, port: report.port)
        let found = eventLoop.makePromise(of: [SocketAddress].self)
        v6.and(v4).map { $0 + $1 }.cascade(to: found)
        let looksUp = HostResolver.looksUp(report.host)
        let timer =
            looksUp
            ? limit.map { limit in
                eventLoop.scheduleTask(in: limit) {
                    let text = "the look-up of the name did not end in time"
                    found.fail(HTTPClientError(.unknownHost, .notSent, origin: origin, detail: text))
                }
            } : nil
        defer {
            timer?.cancel()
            if looksUp { report.lookUpTime = Duration(runtime.now - start) }
        }
        do {
            let addresses = try await found.futureResult.get()
            if addresses.isEmpty { throw NoAddress() }
            return addresses
        } catch let error as HTTPClientError {
            throw error
        } catch {
            throw HTTPClientError(.unknownHost, .notSent, origin: origin, detail: ConnectionFailure.text(of: error))
        }
    }

    private struct NoAddress: Error, CustomStringConvertible {
        let description = "no address was found"
    }

    // MARK: TCP

    /// Opens a connection to one address.
    private func open(
        _ address: SocketAddress,
        _ setUp: @escaping @Sendable (any Channel) throws -> Void = { _ in }
    ) -> EventLoopFuture<any Channel> {
        runtime.open(
            ChannelOpening(
                host: address.ipAddress ?? "",
                port: address.port ?? origin.port,
                eventLoop: eventLoop,
                limit: limit,
                lookUp: lookUp
            ) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channels.add(channel)
                    try setUp(channel)
                }
            }
        )
    }

    /// Connects to all addresses at once. When one has answered, the others have to answer soon.
    private func connect(to addresses: [SocketAddress]) async -> [ConnectionReport.Address] {
        let start = runtime.now
        let attempts = addresses.map { address in
            let time = eventLoop.makePromise(of: TimeAmount.self)
            open(address).map { _ in runtime.now - start }.cascade(to: time)
            return (text: address.ipAddress ?? "", time: time)
        }
        let timers = NIOLockedValueBox<[Scheduled<Void>]>([])
        defer { for timer in timers.withLockedValue({ $0 }) { timer.cancel() } }
        for attempt in attempts {
            attempt.time.futureResult.whenSuccess { _ in
                let timer = eventLoop.scheduleTask(in: Self.grace) {
                    for other in attempts { other.time.fail(ChannelError.connectTimeout(Self.grace)) }
                }
                timers.withLockedValue { $0.append(timer) }
            }
        }
        var results: [ConnectionReport.Address] = []
        for attempt in attempts {
            var result = ConnectionReport.Address(text: attempt.text, time: .zero)
            do {
                result.time = Duration(try await attempt.time.futureResult.get())
            } catch {
                // The text would only repeat the address.
                let cause = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
                result.time = Duration(runtime.now - start)
                result.failure = .connecting(cause, origin: origin)
            }
            results.append(result)
        }
        return results
    }

    /// The first address that has answered.
    private func answering(
        _ addresses: [SocketAddress],
        _ results: [ConnectionReport.Address]
    ) throws(HTTPClientError) -> SocketAddress {
        if let first = zip(addresses, results).first(where: { $0.1.failure == nil })?.0 { return first }
        let failures = results.compactMap(\.failure)
        throw failures.first { $0.code == .connectionRefused } ?? failures[0]
    }

    // MARK: Tunnel and TLS

    /// Opens the tunnel if there is a proxy, and makes the handshake if it is HTTPS; `nil` for plain HTTP.
    private func handshake(with address: SocketAddress, via proxy: HTTPProxy?) async throws -> ConnectionReport.TLS? {
        let setup = ConnectionSetup(
            origin: origin,
            proxy: proxy,
            deadline: limit.map { runtime.now.advanced(by: $0) },
            tls: origin.scheme == .https ? try await context() : nil,
            peerCheck: PeerCheck(TLSOptions(dangerouslySkipsVerification: true)) { _, _ in true },
            certificates: nil,
            parserLimits: parserLimits
        )
        let ready = eventLoop.makePromise(of: ConnectionReport.TLS?.self)
        let opened = NIOLockedValueBox(runtime.now)
        open(address) { channel in
            try channel.pipeline.syncOperations.addHandler(handler(setup, ready, opened: opened))
        }
        .whenComplete { result in
            opened.withLockedValue { $0 = runtime.now }
            if case .failure(let error) = result { ready.fail(error) }
        }
        return try await ready.futureResult.get()
    }

    /// Accepts every certificate, notes it, and sends nothing after the handshake.
    ///
    /// - Parameter opened: When the connection was opened.
    private func handler(
        _ setup: ConnectionSetup,
        _ ready: EventLoopPromise<ConnectionReport.TLS?>,
        opened: NIOLockedValueBox<NIODeadline>
    ) -> ConnectionSetupHandler<ConnectionReport.TLS?> {
        let shown = NIOLockedValueBox<[NIOSSLCertificate]>([])
        return ConnectionSetupHandler(
            setup,
            ready: ready,
            makeTLSHandler: { context, serverName in
                try NIOSSLClientHandler(
                    context: context,
                    serverHostname: serverName,
                    customVerificationCallback: { certificates, verdict in
                        shown.withLockedValue { $0 = certificates }
                        verdict.succeed(.certificateVerified)
                    }
                )
            },
            finish: { established in
                let pipeline = established.context.pipeline.syncOperations
                guard setup.tls != nil, let version = try pipeline.nioSSL_tlsVersion() else { return nil }
                return ConnectionReport.TLS(
                    version: version.text,
                    applicationProtocol: established.applicationProtocol,
                    certificates: try shown.withLockedValue { try $0.map(ConnectionReport.Certificate.init) },
                    time: Duration(runtime.now - opened.withLockedValue { $0 })
                )
            }
        )
    }

    private func context() async throws -> NIOSSLContext {
        do {
            return try await NIOThreadPool.singleton.runIfActive { [tls] in try TLSContexts.makeForReport(tls) }
        } catch {
            let text = ConnectionFailure.text(of: error)
            throw HTTPClientError(.invalidTLSOptions, .notSent, origin: origin, detail: text)
        }
    }
}

extension TLSVersion {
    fileprivate var text: String {
        switch self {
        case .tlsv1: "TLS 1.0"
        case .tlsv11: "TLS 1.1"
        case .tlsv12: "TLS 1.2"
        case .tlsv13: "TLS 1.3"
        }
    }
}

/// The connections that are made for a report.
final class ReportChannels: Sendable {
    /// The channels so far; `nil` when no more are wanted.
    private let channels = NIOLockedValueBox<[any Channel]?>([])

    /// Throws if no more are wanted, so that the channel is closed at once.
    func add(_ channel: any Channel) throws {
        try channels.withLockedValue { channels in
            guard channels != nil else { throw CancellationError() }
            channels?.append(channel)
        }
    }

    /// Closes them all, and those that are added later.
    func close() {
        let open = channels.withLockedValue { channels in
            defer { channels = nil }
            return channels
        }
        for channel in open ?? [] { channel.close(promise: nil) }
    }
}
