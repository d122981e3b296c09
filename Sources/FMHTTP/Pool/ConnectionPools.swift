internal import NIOConcurrencyHelpers
internal import NIOCore

/// The pools of a client, one per origin, made when first needed.
final class ConnectionPools: Sendable {
    private enum State {
        /// → `shutDown`.
        case open([Origin: ConnectionPool])
        case shutDown([ConnectionPool])
    }

    private let state = NIOLockedValueBox(State.open([:]))
    private let makePool: @Sendable (Origin) -> ConnectionPool

    init(makePool: @escaping @Sendable (Origin) -> ConnectionPool) { self.makePool = makePool }

    /// `nil` after a shutdown.
    func pool(for origin: Origin) -> ConnectionPool? {
        state.withLockedValue { state in
            switch state {
            case .shutDown:
                return nil
            case .open(var pools):
                if let pool = pools[origin] { return pool }
                let pool = makePool(origin)
                // Emptied first, so that the dictionary is changed in place.
                state = .open([:])
                pools[origin] = pool
                state = .open(pools)
                return pool
            }
        }
    }

    /// Closes for the new, at once; the future succeeds when nothing is left.
    func shutDown(on eventLoop: any EventLoop, grace: TimeAmount) -> EventLoopFuture<Void> {
        let pools = state.withLockedValue { state in
            let pools =
                switch state {
                case .open(let pools): Array(pools.values)
                case .shutDown(let pools): pools
                }
            state = .shutDown(pools)
            return pools
        }
        let drained = pools.map { pool in
            let promise = eventLoop.makePromise(of: Void.self)
            pool.shutDown(promise)
            return promise.futureResult
        }
        let patience = eventLoop.scheduleTask(in: grace) {
            for pool in pools { pool.closeAll() }
        }
        let all = EventLoopFuture.andAllSucceed(drained, on: eventLoop)
        all.whenComplete { _ in patience.cancel() }
        return all
    }

    /// Closes what nobody can use any more. What runs, ends.
    func forget() {
        let pools: [ConnectionPool] = state.withLockedValue { state in
            guard case .open(let pools) = state else { return [] }
            state = .shutDown(Array(pools.values))
            return Array(pools.values)
        }
        for pool in pools { pool.shutDown(nil) }
    }

    /// For tests and the log.
    var all: [ConnectionPool] {
        state.withLockedValue { state in
            switch state {
            case .open(let pools): Array(pools.values)
            case .shutDown(let pools): pools
            }
        }
    }
}
