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
        if let limit { options.timeouts.firstByte = .nanoseconds(limit.nanoseconds) }
    }
}

/// Measures how long the host works for a look, from the moment at which a call has its session to its answer: waiting behind the calls
/// of the program is nothing that the host has to be spared.
final class LookMeter: Sendable {
    private struct State {
        var work = TimeAmount.zero
        /// When the calls that are with the host had their sessions.
        var calls: [Int: NIODeadline] = [:]
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
            state.calls.values.reduce(state.work) { $0 + Self.work(from: $1, to: now) }
        }
    }

    /// How many calls are with the host.
    var calls: Int { state.withLockedValue(\.calls.count) }

    /// The same exchange, measured.
    func measured<Value>(
        _ exchange: AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let began = now()
        let call = state.withLockedValue { state in
            state.lastCall += 1
            state.calls[state.lastCall] = began
            return state.lastCall
        }
        changed(self)
        let end: @Sendable () -> Void = { [self] in
            let now = now()
            let isNew = state.withLockedValue { state in
                guard let began = state.calls.removeValue(forKey: call) else { return false }
                state.work = state.work + Self.work(from: began, to: now)
                return true
            }
            if isNew { changed(self) }
        }
        return exchange.handleEvents(receiveCompletion: { _ in end() }, receiveCancel: end).eraseToAnyPublisher()
    }

    /// The clock may have been set back.
    private static func work(from began: NIODeadline, to end: NIODeadline) -> TimeAmount { max(.zero, end - began) }
}
