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

/// Measures how long the host works for a look: for each request from the moment at which it is written to a connection to the end of
/// its answer. What passes before, behind the calls of the program that have the sessions and the connections, is nothing that the
/// host has to be spared; and neither is the time for which an answer was waited that did not come or that nobody wanted any more.
final class LookMeter: Sendable {
    /// One request.
    final class Span: Sendable {
        private let began = NIOLockedValueBox<NIODeadline?>(nil)
        private let now: @Sendable () -> NIODeadline

        fileprivate init(now: @escaping @Sendable () -> NIODeadline) {
            self.now = now
        }

        /// The request is being written: perhaps once more, when the connection before was dead.
        func begin() { began.withLockedValue { $0 = now() } }

        fileprivate var length: TimeAmount {
            // The clock may have been set back.
            began.withLockedValue(\.self).map { max(.zero, now() - $0) } ?? .zero
        }
    }

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

    /// A call has its session, and makes an exchange, which is measured.
    ///
    /// - Parameter exchange: gets what is to be told when the request is written.
    func measured<Value>(
        _ exchange: (Span) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        hasSession()
        let span = Span(now: now)
        return exchange(span)
            .handleEvents(receiveCompletion: { [self] completion in
                if case .failure(let error) = completion, error.wasNotAnsweredInTime { return }
                let took = span.length
                state.withLockedValue { $0 = $0 + took }
            })
            .eraseToAnyPublisher()
    }
}

extension FMRest.APIError {
    /// Whether a time limit struck before the first byte of an answer.
    fileprivate var wasNotAnsweredInTime: Bool {
        code == .timeout && transportError.map { $0.outcome != .answered } ?? true
    }
}
