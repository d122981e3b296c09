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
            let attempts = await connect(to: addresses)
            report.addresses = attempts.map(\.address)
            let channel = try chosen(of: attempts)
            if origin.scheme == .https || proxy != nil { report.tls = try await handshake(on: channel, via: proxy) }
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
        let timer = limit.map { limit in
            eventLoop.scheduleTask(in: limit) {
                let text = "the look-up of the name did not end in time"
                found.fail(HTTPClientError(.unknownHost, .notSent, origin: origin, detail: text))
            }
        }
        defer {
            timer?.cancel()
            if HostResolver.looksUp(report.host) { report.lookUpTime = Duration(runtime.now - start) }
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

    private typealias Attempt = (address: ConnectionReport.Address, channel: (any Channel)?)

    /// Connects to all addresses at once. When one has answered, the others have to answer soon.
    private func connect(to addresses: [SocketAddress]) async -> [Attempt] {
        let start = runtime.now
        let attempts = addresses.map { address in
            let promise = eventLoop.makePromise(of: (channel: any Channel, time: TimeAmount).self)
            let text = address.ipAddress ?? ""
            let opening = ChannelOpening(
                host: text,
                port: address.port ?? origin.port,
                eventLoop: eventLoop,
                limit: limit,
                lookUp: lookUp
            ) { channel in
                channel.eventLoop.makeCompletedFuture { try channels.add(channel) }
            }
            runtime.open(opening).map { (channel: $0, time: runtime.now - start) }.cascade(to: promise)
            return (text: text, promise: promise)
        }
        let timers = NIOLockedValueBox<[Scheduled<Void>]>([])
        defer { for timer in timers.withLockedValue({ $0 }) { timer.cancel() } }
        for attempt in attempts {
            attempt.promise.futureResult.whenSuccess { _ in
                let timer = eventLoop.scheduleTask(in: Self.grace) {
                    for other in attempts { other.promise.fail(ChannelError.connectTimeout(Self.grace)) }
                }
                timers.withLockedValue { $0.append(timer) }
            }
        }
        var results: [Attempt] = []
        for attempt in attempts {
            do {
                let (channel, time) = try await attempt.promise.futureResult.get()
                results.append((.init(text: attempt.text, time: Duration(time)), channel))
            } catch {
                // The text would only repeat the address.
                let cause = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
                let failure = HTTPClientError.connecting(cause, origin: origin)
                results.append((.init(text: attempt.text, time: Duration(runtime.now - start), failure: failure), nil))
            }
        }
        return results
    }

    private func chosen(of attempts: [Attempt]) throws -> any Channel {
        if let channel = attempts.lazy.compactMap(\.channel).first { return channel }
        let failures = attempts.compactMap(\.address.failure)
        throw failures.first { $0.code == .connectionRefused } ?? failures[0]
    }
}

// MARK: Tunnel and TLS

extension ConnectionReporter {
    /// Opens the tunnel if there is a proxy, and makes the handshake if it is HTTPS; `nil` for plain HTTP.
    fileprivate func handshake(on channel: any Channel, via proxy: HTTPProxy?) async throws -> ConnectionReport.TLS? {
        let start = runtime.now
        let setup = ConnectionSetup(
            origin: origin,
            proxy: proxy,
            deadline: limit.map { start.advanced(by: $0) },
            tls: origin.scheme == .https ? try await context() : nil,
            peerCheck: PeerCheck(TLSOptions(dangerouslySkipsVerification: true)) { _, _ in true },
            certificates: nil,
            parserLimits: parserLimits
        )
        let ready = channel.eventLoop.makePromise(of: ConnectionReport.TLS?.self)
        channel.eventLoop.execute {
            // In a channel that is closed already, the handler would learn of nothing.
            guard channel.isActive else {
                let text = "the connection was closed at once"
                return ready.fail(HTTPClientError(.connectFailed, .notSent, origin: origin, detail: text))
            }
            let shown = NIOLockedValueBox<[NIOSSLCertificate]>([])
            let handler = ConnectionSetupHandler(
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
                        time: Duration(runtime.now - start)
                    )
                }
            )
            do {
                try channel.pipeline.syncOperations.addHandler(handler)
            } catch {
                ready.fail(error)
            }
        }
        return try await ready.futureResult.get()
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
