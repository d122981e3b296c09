import NIOConcurrencyHelpers
package import NIOCore
import OpenCombine

/// Measures how long the host works for a poll: for each request, the time from writing it to a connection until the
/// end of its answer. Not counted are the waiting for a session and a connection behind the program's own calls, which
/// costs the host nothing, and the waiting for an answer that never came or was cancelled.
package final class PollMeter: Sendable {
    /// One call. It may be written more than once, if the connection before was dead; the last time counts.
    private struct Call {
        var writtenAt: NIODeadline?
        var isAnswered = false

        func work(until end: NIODeadline) -> TimeAmount {
            // The clock may have been set back.
            writtenAt.map { max(.zero, end - $0) } ?? .zero
        }
    }

    private struct State {
        var work = TimeAmount.zero
        /// The calls that have a session and have not ended.
        var calls: [Int: Call] = [:]
        var lastCall = 0
    }

    private let state = NIOLockedValueBox(State())
    private let now: @Sendable () -> NIODeadline
    private let changed: @Sendable (PollMeter) -> Void

    /// - Parameter changed: called each time a call gets its session, and each time one ends, with or without an
    ///   answer.
    package init(now: @escaping @Sendable () -> NIODeadline, changed: @escaping @Sendable (PollMeter) -> Void) {
        self.now = now
        self.changed = changed
    }

    /// How long the host has worked so far, counting calls whose answer has begun.
    package var work: TimeAmount {
        let now = now()
        return state.withLockedValue { state in
            state.calls.values.filter(\.isAnswered).reduce(state.work) { $0 + $1.work(until: now) }
        }
    }

    /// How many calls have a session and have not ended.
    package var calls: Int { state.withLockedValue(\.calls.count) }

    /// Performs and measures the exchange of a call that has just got its session.
    ///
    /// - Parameter exchange: makes the exchange; it receives a closure to be called when the request is written.
    func measured<Value>(
        _ exchange: (_ written: @escaping @Sendable () -> Void) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let call = state.withLockedValue { state in
            state.lastCall += 1
            state.calls[state.lastCall] = Call()
            return state.lastCall
        }
        changed(self)
        return exchange { [self] in
            let now = now()
            state.withLockedValue { $0.calls[call]?.writtenAt = now }
        }
        .handleEvents(
            receiveOutput: { [self] _ in state.withLockedValue { $0.calls[call]?.isAnswered = true } },
            receiveCompletion: { [self] completion in
                if case .failure(let error) = completion { end(call, isAnswered: !error.wasNotAnsweredInTime) }
                end(call)
            },
            receiveCancel: { [self] in end(call) }
        )
        .eraseToAnyPublisher()
    }

    private func end(_ call: Int, isAnswered: Bool? = nil) {
        let now = now()
        let isNew = state.withLockedValue { state in
            guard let ended = state.calls.removeValue(forKey: call) else { return false }
            if isAnswered ?? ended.isAnswered { state.work = state.work + ended.work(until: now) }
            return true
        }
        if isNew { changed(self) }
    }
}

extension FMRest.APIError {
    /// Whether the call timed out before the first byte of an answer.
    fileprivate var wasNotAnsweredInTime: Bool {
        code == .timeout && transportError.map { $0.outcome != .answered } ?? true
    }
}
