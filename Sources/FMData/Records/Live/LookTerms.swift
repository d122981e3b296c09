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
    private let state = NIOLockedValueBox(TimeAmount.zero)
    private let now: @Sendable () -> NIODeadline
    private let hasSession: @Sendable () -> Void

    /// - Parameter hasSession: is called each time a call has its session.
    init(now: @escaping @Sendable () -> NIODeadline, hasSession: @escaping @Sendable () -> Void) {
        self.now = now
        self.hasSession = hasSession
    }

    /// How long the host has worked so far.
    var work: TimeAmount { state.withLockedValue(\.self) }

    /// The same exchange, measured.
    func measured<Value>(
        _ exchange: AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        hasSession()
        let began = now()
        let add: @Sendable () -> Void = { [self] in
            let took = now() - began
            // The clock may have been set back.
            state.withLockedValue { $0 = $0 + max(.zero, took) }
        }
        return exchange.handleEvents(receiveCompletion: { _ in add() }, receiveCancel: add).eraseToAnyPublisher()
    }
}
