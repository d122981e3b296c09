import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// As what and for how long a look asks.
struct LookTerms: Sendable {
    /// Of the account that looks.
    let tenure: Tenure
    /// How long it waits for the first byte of an answer; `nil` for ever.
    let limit: TimeAmount?
    /// Measures what the host has to do for it.
    let meter: LookMeter

    /// For the calls of the look.
    func apply(to options: inout DataAPI.CallOptions) {
        options.look = meter
        options.cacheTime = nil
        if let limit { options.timeouts.firstByte = .nanoseconds(limit.nanoseconds) }
    }
}

/// Measures how long the host works for a look: for each request from the moment at which it is written to a connection to the end of
/// its answer. What passes before, behind the calls of the program that have the sessions and the connections, is nothing that the
/// host has to be spared; and neither is the time for which an answer was waited that did not come or that nobody wanted any more.
final class LookMeter: Sendable {
    /// One call, which may be written more than once, when the connection before was dead.
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
        /// Those that have a session and have not ended.
        var calls: [Int: Call] = [:]
        var lastCall = 0
    }

    private let state = NIOLockedValueBox(State())
    private let now: @Sendable () -> NIODeadline
    private let changed: @Sendable (LookMeter) -> Void

    /// - Parameter changed: is called each time a call has its session, and each time one has its answer or ends without.
    init(now: @escaping @Sendable () -> NIODeadline, changed: @escaping @Sendable (LookMeter) -> Void) {
        self.now = now
        self.changed = changed
    }

    /// How long the host has worked so far.
    var work: TimeAmount {
        let now = now()
        return state.withLockedValue { state in
            state.calls.values.filter(\.isAnswered).reduce(state.work) { $0 + $1.work(until: now) }
        }
    }

    /// How many calls are with the host.
    var calls: Int { state.withLockedValue(\.calls.count) }

    /// A call has its session, and makes an exchange, which is measured.
    ///
    /// - Parameter exchange: gets what is to be called when the request is written.
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
    /// Whether a time limit struck before the first byte of an answer.
    fileprivate var wasNotAnsweredInTime: Bool {
        code == .timeout && transportError.map { $0.outcome != .answered } ?? true
    }
}
