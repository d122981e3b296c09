import NIOConcurrencyHelpers
import NIOCore

/// One HTTP client. A contestant does `count` requests, `concurrency` of them at a time, and returns when all are done.
protocol Contestant: Sendable {
    var name: String { get }
    func run(_ target: String, count: Int, concurrency: Int) async throws
    func stop() async throws
}

struct WrongAnswer: Error {
    var status: Int
    var bytes: Int
}

/// The common part of contestants with callbacks: `concurrency` chains, each starting its next request when the last
/// has ended, until `count` are done.
final class Chains: Sendable {
    private struct State {
        var unstarted: Int
        var unfinished: Int
        var error: (any Error)?
    }

    private let state: NIOLockedValueBox<State>
    private let done: EventLoopPromise<Void>

    init(count: Int, done: EventLoopPromise<Void>) {
        state = NIOLockedValueBox(State(unstarted: count, unfinished: count))
        self.done = done
    }

    /// Whether to start another request.
    func next() -> Bool {
        state.withLockedValue { state in
            guard state.unstarted > 0, state.error == nil else { return false }
            state.unstarted -= 1
            return true
        }
    }

    func ended(_ error: (any Error)? = nil) {
        let isLast = state.withLockedValue { state in
            state.unfinished -= 1
            if let error, state.error == nil {
                state.error = error
                return true
            }
            return state.unfinished == 0 && state.error == nil
        }
        guard isLast else { return }
        if let error { done.fail(error) } else { done.succeed() }
    }
}
