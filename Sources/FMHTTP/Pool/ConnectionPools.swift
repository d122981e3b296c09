internal import NIOConcurrencyHelpers
internal import NIOCore

/// The pools of a client, one per origin. Each is made when it is first needed.
final class ConnectionPools: Sendable {
    private struct State {
        var pools: [Origin: ConnectionPool] = [:]
        /// The pool of the last request: nearly always the next request needs the same one.
        var latest: ConnectionPool?
        var lastRequest = 0
        var isShutDown = false
    }

    private let state = NIOLockedValueBox(State())
    private let makePool: @Sendable (Origin) -> ConnectionPool

    init(makePool: @escaping @Sendable (Origin) -> ConnectionPool) { self.makePool = makePool }

    /// The pool and the id for a request. `nil` after a shutdown.
    func admit(to origin: Origin) -> (ConnectionPool, RequestID)? {
        state.withLockedValue { state in
            guard !state.isShutDown else { return nil }
            state.lastRequest += 1
            return (Self.pool(for: origin, in: &state, makePool), RequestID(number: state.lastRequest))
        }
    }

    private static func pool(
        for origin: Origin,
        in state: inout State,
        _ makePool: (Origin) -> ConnectionPool
    ) -> ConnectionPool {
        if let latest = state.latest, latest.origin == origin { return latest }
        let pool = state.pools[origin] ?? makePool(origin)
        state.pools[origin] = pool
        state.latest = pool
        return pool
    }

    /// Rejects new requests at once; the future succeeds when no connection is left.
    func shutDown(on eventLoop: any EventLoop, grace: TimeAmount) -> EventLoopFuture<Void> {
        let pools = close()
        let drained = pools.map { pool in
            let promise = eventLoop.makePromise(of: Void.self)
            pool.shutDown(promise)
            return promise.futureResult
        }
        let endOfGrace = eventLoop.scheduleTask(in: grace) {
            for pool in pools { pool.closeAll() }
        }
        let all = EventLoopFuture.andAllSucceed(drained, on: eventLoop)
        all.whenComplete { _ in endOfGrace.cancel() }
        return all
    }

    /// Closes the idle connections of a deallocated client. Running requests may end.
    func forget() {
        for pool in close() { pool.shutDown(nil) }
    }

    private func close() -> [ConnectionPool] {
        state.withLockedValue { state in
            state.isShutDown = true
            return Array(state.pools.values)
        }
    }

    /// All pools, for tests.
    var all: [ConnectionPool] { state.withLockedValue { Array($0.pools.values) } }
}
