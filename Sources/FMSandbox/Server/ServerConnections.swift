import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOSSL

/// The connections that a sandbox has accepted.
final class ServerConnections: Sendable {
    private struct State {
        /// The open connections, oldest first.
        var open: [(channel: any Channel, generation: Int)] = []
        /// The oldest generation that is still allowed; connections of older ones were dropped.
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

    /// Accepts a connection and answers its requests. Throws if the server was stopped or has dropped the connections
    /// of this generation. Called on the channel's event loop.
    ///
    /// - Parameter authority: The host and port under which the client reached the sandbox, if its requests have no
    ///   `Host`.
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

    /// Accepts no more connections, and returns the open ones.
    func take() -> [any Channel] {
        state.withLockedValue { state in
            state.isStopped = true
            return state.open.map(\.channel)
        }
    }

    func interruptRequests() { tasks.stop() }

    /// Closes the connections of older generations.
    func drop(before generation: Int) {
        let dropped = state.withLockedValue { state in
            state.generation = generation
            return state.open.filter { $0.generation < generation }
        }
        for (channel, _) in dropped { channel.close(promise: nil) }
    }
}
