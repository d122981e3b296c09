import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOSSL

/// The connections that a sandbox has accepted, whatever carries them.
final class ServerConnections: Sendable {
    private struct State {
        /// In the order in which they were accepted.
        var open: [(channel: any Channel, generation: Int)] = []
        /// The connections of older generations were dropped.
        var generation = 0
        var isStopped = false
    }

    private let engine: Engine
    private let tls: NIOSSLContext?
    private let tasks: RunningTasks
    private let state = NIOLockedValueBox(State())

    init(of engine: Engine, tasks: RunningTasks = RunningTasks()) throws {
        self.engine = engine
        self.tasks = tasks
        tls = try engine.certificate?.serverContext()
    }

    /// Takes a connection and answers what comes on it; throws when the server has been stopped, or has dropped those of its
    /// generation. Called on the channel's loop.
    ///
    /// - Parameter authority: where the client has reached the sandbox, if it does not say so itself.
    func accept(_ channel: any Channel, authority: String) throws {
        engine.withState { $0.counters.connections += 1 }
        let responder = Responder(engine: engine)
        guard remember(channel, responder.generation) else { throw ChannelError.ioOnClosedChannel }
        try setUp(channel, responder, authority)
    }

    private func remember(_ channel: any Channel, _ generation: Int) -> Bool {
        let isOpen = state.withLockedValue { state in
            guard !state.isStopped, generation >= state.generation else { return false }
            state.open.append((channel, generation))
            return true
        }
        channel.closeFuture.whenComplete { [state] _ in
            state.withLockedValue { $0.open.removeAll { $0.channel === channel } }
        }
        return isOpen
    }

    private func setUp(_ channel: any Channel, _ responder: Responder, _ authority: String) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        try pipeline.configureHTTPServerPipeline()
        try pipeline.addHandler(
            HTTPHandler(responder: responder, tasks: tasks, scheme: tls == nil ? "http" : "https", authority: authority)
        )
    }

    // MARK: Stopping

    /// Takes no more connections, and returns those that are open.
    func take() -> [any Channel] {
        state.withLockedValue { state in
            state.isStopped = true
            return state.open.map(\.channel)
        }
    }

    func interruptRequests() { tasks.stop() }

    /// Closes those of older generations.
    func drop(before generation: Int) {
        let dropped = state.withLockedValue { state in
            state.generation = generation
            return state.open.filter { $0.generation < generation }
        }
        for (channel, _) in dropped { channel.close(promise: nil) }
    }
}
