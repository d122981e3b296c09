import Dispatch
import FMData
import OpenCombine

/// The parts of a response that is known some time after the first demand. They are passed on as they are asked for: in
/// the background, as those of a host are, or on the thread that asks.
///
/// A double that answers on the thread that asks hides a closure of main-actor code that a host's answer would call in
/// the background, where Swift ends the program.
struct PreparedParts<Failure: Error>: Publisher {
    typealias Output = DataAPI.ResponsePart
    typealias Response = Result<[DataAPI.ResponsePart], Failure>
    /// Called with the first demand. It calls `done` at most once, at once or later, on any thread, and returns what
    /// ends the wait for that.
    typealias Preparation = @Sendable (_ done: @escaping @Sendable (Response) -> Void) -> @Sendable () -> Void

    private let isInBackground: Bool
    private let prepare: Preparation

    init(inBackground isInBackground: Bool, _ prepare: @escaping Preparation) {
        self.isInBackground = isInBackground
        self.prepare = prepare
    }

    func receive<Downstream: Subscriber<DataAPI.ResponsePart, Failure>>(subscriber: Downstream) {
        let queue = isInBackground ? DispatchQueue(label: "FMTesting") : nil
        subscriber.receive(subscription: Inner(prepare, queue, AnySubscriber(subscriber)))
    }
}

extension PreparedParts {
    private final class Inner: Subscription, Sendable {
        typealias Downstream = AnySubscriber<DataAPI.ResponsePart, Failure>

        private enum Phase {
            /// → `preparing`, `over`
            case ready
            /// Has what ends the wait, as soon as that is known. → `passing`, `over`
            case preparing((@Sendable () -> Void)?)
            /// The parts that are left, and whether a call of ``Inner/pass()`` is under way: demand from inside of a
            /// delivery does not begin another. → `over`
            case passing(ArraySlice<DataAPI.ResponsePart>, isUnderWay: Bool)
            /// Finished, failed or cancelled.
            case over
        }

        private struct State {
            var phase = Phase.ready
            var demand = Subscribers.Demand.none
            /// `nil` when it is over.
            var downstream: Downstream?

            mutating func end() -> (phase: Phase, downstream: Downstream?) {
                defer { (phase, downstream) = (.over, nil) }
                return (phase, downstream)
            }
        }

        private enum Delivery {
            case part(DataAPI.ResponsePart, Downstream)
            case end(Downstream)
        }

        private let prepare: Preparation
        /// `nil` for deliveries on the thread that asks.
        private let queue: DispatchQueue?
        private let state: Guarded<State>

        init(_ prepare: @escaping Preparation, _ queue: DispatchQueue?, _ downstream: Downstream) {
            self.prepare = prepare
            self.queue = queue
            state = Guarded(State(downstream: downstream))
        }

        func request(_ demand: Subscribers.Demand) {
            let isFirst = state.withLock { state in
                state.demand += demand
                guard case .ready = state.phase else { return false }
                state.phase = .preparing(nil)
                return true
            }
            guard isFirst else { return deliver { self.pass() } }
            let endWait = prepare { response in self.deliver { self.prepared(response) } }
            let isOver = state.withLock { state in
                switch state.phase {
                case .preparing:
                    state.phase = .preparing(endWait)
                    return false
                case .over: return true
                case .ready, .passing: return false
                }
            }
            if isOver { endWait() }
        }

        func cancel() {
            let (last, downstream) = state.withLock { $0.end() }
            if case .preparing(let endWait) = last { endWait?() }
            // The subscriber is released outside of the lock.
            withExtendedLifetime(downstream) {}
        }

        private func deliver(_ work: @escaping @Sendable () -> Void) {
            if let queue { queue.async(execute: work) } else { work() }
        }

        private func prepared(_ response: Response) {
            let failure: (Downstream?, Failure)? = state.withLock { state in
                guard case .preparing = state.phase else { return nil }
                switch response {
                case .success(let parts):
                    state.phase = .passing(parts[...], isUnderWay: false)
                    return nil
                case .failure(let error): return (state.end().downstream, error)
                }
            }
            if let (downstream, error) = failure { downstream?.receive(completion: .failure(error)) } else { pass() }
        }

        /// Passes parts on as long as there are some and demand for them, then the end.
        private func pass() {
            var mayBegin = true
            while let delivery = state.withLock({ Self.next(in: &$0, mayBegin: mayBegin) }) {
                mayBegin = false
                switch delivery {
                case .part(let part, let downstream):
                    let more = downstream.receive(part)
                    state.withLock { $0.demand += more }
                case .end(let downstream): return downstream.receive(completion: .finished)
                }
            }
        }

        /// - Parameter mayBegin: whether the caller is not the one that is under way.
        private static func next(in state: inout State, mayBegin: Bool) -> Delivery? {
            guard case .passing(let parts, let isUnderWay) = state.phase, let downstream = state.downstream,
                isUnderWay != mayBegin
            else { return nil }
            guard let part = parts.first else {
                _ = state.end()
                return .end(downstream)
            }
            guard state.demand > .none else {
                state.phase = .passing(parts, isUnderWay: false)
                return nil
            }
            state.demand -= 1
            state.phase = .passing(parts.dropFirst(), isUnderWay: true)
            return .part(part, downstream)
        }
    }
}
