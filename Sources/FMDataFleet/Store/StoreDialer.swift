import NIOCore
import NIOPosix
import NIOSSL

/// Opens connections to the processes of a store, and to its Sentinels, with TLS where the address says so.
struct StoreDialer {
    let tls: TLSConfiguration?
    let surroundings: FleetSurroundings
    let limit: TimeAmount

    /// Connects, on the event loop. A connection that is opened tells its observer when it is closed.
    func open(_ connection: StoreConnection, to place: StoreAddress.Place, failed: @escaping () -> Void) {
        let bound = NIOLoopBound((connection: connection, failed: failed), eventLoop: surroundings.eventLoop)
        let tls: NIOLoopBound<NIOSSLClientHandler>?
        do {
            tls = try makeTLSHandler(for: place).map { NIOLoopBound($0, eventLoop: surroundings.eventLoop) }
        } catch {
            return failed()
        }
        let opening = StoreOpening(place: place, eventLoop: surroundings.eventLoop, limit: limit) { channel in
            channel.eventLoop.makeCompletedFuture {
                if let tls { try channel.pipeline.syncOperations.addHandler(tls.value) }
                try channel.pipeline.syncOperations.addHandler(bound.value.connection)
            }
        }
        surroundings.open(opening).whenFailure { _ in bound.value.failed() }
    }

    private func makeTLSHandler(for place: StoreAddress.Place) throws -> NIOSSLClientHandler? {
        guard let tls, case .host(let host, _) = place else { return nil }
        let context = try NIOSSLContext(configuration: tls)
        do {
            return try NIOSSLClientHandler(context: context, serverHostname: host)
        } catch let error as NIOSSLExtraError where error == .cannotUseIPAddressInSNI {
            return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
    }
}

/// Connects to the store, and has the channel set up before anything is read.
typealias StoreOpener = @Sendable (StoreOpening) -> EventLoopFuture<any Channel>

/// The description of a connection to the store.
struct StoreOpening: Sendable {
    let place: StoreAddress.Place
    let eventLoop: any EventLoop
    let limit: TimeAmount
    /// Adds the handlers to the channel. Called once, before the channel is active.
    let setUp: @Sendable (any Channel) -> EventLoopFuture<Void>

    /// Connects by TCP, or to a socket of the machine.
    static let sockets: StoreOpener = { opening in
        let bootstrap = ClientBootstrap(group: opening.eventLoop)
            .connectTimeout(opening.limit)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer(opening.setUp)
        return switch opening.place {
        case .host(let host, let port): bootstrap.connect(host: host, port: port)
        case .socket(let path): bootstrap.connect(unixDomainSocketPath: path)
        }
    }
}
