import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

@testable import FMDataFleet

/// Stands between a member and its store, at a socket of its own, and loses or holds back what a test wants it to.
///
/// A connection that has lost something ends when the proxy passes everything again: what comes next on it would be
/// taken for what was lost, and no test need wait until a member gives up.
final class StoreProxy: Sendable {
    enum Behaviour: Sendable {
        case pass
        /// The store gets everything, and its answers are lost.
        case swallowAnswers
        /// Nothing arrives anywhere, and no connection ends.
        case blackHole
        /// What members send arrives when the proxy passes everything again.
        case hold
        /// Connections end when so many bytes of answers were delivered.
        case cutAfter(Int)
    }

    /// What becomes of bytes that arrive.
    fileprivate enum Fate {
        case pass, lose, hold
        /// The connection ends after so many of them.
        case cut(Int)
    }

    private struct State {
        var behaviour = Behaviour.pass
        /// How many bytes of answers have been delivered since the behaviour was set.
        var delivered = 0
        /// How many times something was lost or cut.
        var losses = 0
        /// What is held back, by the clients that have sent it, and how many times something was.
        var held: [ObjectIdentifier: [ByteBuffer]] = [:]
        var holds = 0
        /// The clients' ends of connections.
        var clients: [ObjectIdentifier: any Channel] = [:]
        /// Those that have lost something.
        var broken: Set<ObjectIdentifier> = []
    }

    let socket: String
    private let server: any Channel
    private let state = NIOLockedValueBox(State())

    var lossCount: Int { state.withLockedValue { $0.losses } }
    var holdCount: Int { state.withLockedValue { $0.holds } }
    var deliveredBytes: Int { state.withLockedValue { $0.delivered } }

    private init(socket: String, server: any Channel, glue: Glue) {
        self.socket = socket
        self.server = server
        glue.proxy.change { $0 = self }
    }

    /// Finds the proxy, which is made after its server.
    fileprivate final class Glue: Sendable {
        let proxy = Locked<StoreProxy?>(nil)
    }

    /// The port of one with TLS.
    var port: Int { server.localAddress?.port ?? 0 }

    /// - Parameter tls: with it, the proxy is at a port of the loopback address, and ends TLS.
    static func start(before store: StoreServer, tls: NIOSSLContext? = nil) async throws -> StoreProxy {
        let socket = store.socket + "p"
        let glue = Glue()
        let target = store.socket
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop)
                    .channelInitializer { store in
                        store.eventLoop.makeCompletedFuture {
                            try store.pipeline.syncOperations.addHandler(Relay(to: client, isAnswer: true, glue: glue))
                        }
                    }
                    .connect(unixDomainSocketPath: target)
                    .flatMap { store in
                        client.eventLoop.makeCompletedFuture {
                            if let tls {
                                try client.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                            }
                            try client.pipeline.syncOperations.addHandler(Relay(to: store, isAnswer: false, glue: glue))
                        }
                        .flatMap { client.setOption(.autoRead, value: true) }
                    }
            }
        let server =
            if tls != nil {
                try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
            } else {
                try await bootstrap.bind(unixDomainSocketPath: socket).get()
            }
        return StoreProxy(socket: socket, server: server, glue: glue)
    }

    func behave(_ new: Behaviour) {
        let broken = state.withLockedValue { state -> [any Channel] in
            state.behaviour = new
            state.delivered = 0
            if case .pass = new { return state.broken.compactMap { state.clients[$0] } }
            return []
        }
        for client in broken { client.close(promise: nil) }
        if case .pass = new {
            for client in state.withLockedValue({ Array($0.clients.values) }) {
                client.pipeline.fireUserInboundEventTriggered(HoldingEnds())
            }
        }
    }

    /// Tells a connection to deliver what is held back.
    private struct HoldingEnds {}

    fileprivate func hold(_ bytes: ByteBuffer, of client: any Channel) {
        state.withLockedValue { $0.held[ObjectIdentifier(client), default: []].append(bytes) }
    }

    fileprivate func takeHeld(of client: any Channel) -> [ByteBuffer] {
        state.withLockedValue { $0.held.removeValue(forKey: ObjectIdentifier(client)) ?? [] }
    }

    /// Ends all connections.
    func cut() {
        for client in state.withLockedValue({ Array($0.clients.values) }) { client.close(promise: nil) }
    }

    /// What becomes of so many bytes that arrive at the connection of this client.
    fileprivate func fate(of count: Int, isAnswer: Bool, client: any Channel) -> Fate {
        state.withLockedValue { state in
            let name = ObjectIdentifier(client)
            switch state.behaviour {
            // What follows does not overtake what is held back.
            case .pass where !isAnswer && state.held[name] != nil, .hold where !isAnswer:
                state.holds += 1
                return .hold
            case .pass, .hold:
                if isAnswer { state.delivered += count }
                return state.broken.contains(name) ? .lose : .pass
            case .cutAfter where !isAnswer, .swallowAnswers where !isAnswer:
                return .pass
            case .swallowAnswers, .blackHole:
                state.losses += 1
                state.broken.insert(name)
                return .lose
            case .cutAfter(let limit) where count > limit - state.delivered:
                state.losses += 1
                state.behaviour = .pass
                return .cut(max(0, limit - state.delivered))
            case .cutAfter:
                state.delivered += count
                return .pass
            }
        }
    }

    fileprivate func began(_ client: any Channel) {
        state.withLockedValue { $0.clients[ObjectIdentifier(client)] = client }
    }

    fileprivate func ended(_ client: any Channel) {
        state.withLockedValue { state in
            state.clients[ObjectIdentifier(client)] = nil
            state.broken.remove(ObjectIdentifier(client))
            state.held[ObjectIdentifier(client)] = nil
        }
    }

    func stop() async {
        try? await server.close().get()
    }

    private final class Relay: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let other: any Channel
        private let isAnswer: Bool
        private let glue: Glue

        init(to other: any Channel, isAnswer: Bool, glue: Glue) {
            self.other = other
            self.isAnswer = isAnswer
            self.glue = glue
        }

        func handlerAdded(context: ChannelHandlerContext) {
            if !isAnswer { glue.proxy.value?.began(context.channel) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard let proxy = glue.proxy.value else { return }
            var bytes = unwrapInboundIn(data)
            let client = isAnswer ? other : context.channel
            switch proxy.fate(of: bytes.readableBytes, isAnswer: isAnswer, client: client) {
            case .pass:
                other.writeAndFlush(bytes, promise: nil)
            case .lose:
                break
            case .hold:
                proxy.hold(bytes, of: client)
            case .cut(let count):
                if let part = bytes.readSlice(length: count) { other.writeAndFlush(part, promise: nil) }
                other.close(promise: nil)
                context.close(promise: nil)
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard event is HoldingEnds else { return context.fireUserInboundEventTriggered(event) }
            for bytes in glue.proxy.value?.takeHeld(of: context.channel) ?? [] {
                other.writeAndFlush(bytes, promise: nil)
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            if !isAnswer { glue.proxy.value?.ended(context.channel) }
            other.close(promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
