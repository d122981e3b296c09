internal import NIOCore
internal import OpenCombine

/// Stands between the parts that arrive and the subscriber's demand: it keeps the order and counts the demand, and
/// nothing follows the completion. One per subscription; it holds values, but no subscriber, lock or thread.
struct DeliveryStateMachine<Element> {
    enum RequestAction: Equatable {
        /// The first demand.
        case start
        /// A value or the completion can be delivered now, and no thread is delivering.
        case deliver
        /// There is nothing to deliver, and reading was paused and should continue.
        case resume
        case none
    }

    /// The next step of the delivering thread.
    enum NextAction {
        case value(Element)
        case completion(Subscribers.Completion<HTTPClientError>)
        /// Nothing can be delivered now: the thread stops delivering.
        case rest
    }

    private enum State: Equatable {
        /// → `active` with the first demand, `terminal`.
        case cold
        /// → `terminal`.
        case active
        case terminal
    }

    private var state = State.cold
    private var demand = Subscribers.Demand.none
    private var buffer = CircularBuffer<Element>()
    private var completion: Subscribers.Completion<HTTPClientError>?
    private var isDelivering = false
    private var isPaused = false
    /// Limits the buffer for a slow subscriber with unlimited demand.
    private let maximumBuffered: Int

    init(maximumBuffered: Int) { self.maximumBuffered = maximumBuffered }

    mutating func requested(_ more: Subscribers.Demand) -> RequestAction {
        guard more > .none else { return .none }
        switch state {
        case .cold:
            demand = more
            state = .active
            return .start
        case .active:
            demand += more
            if canDeliver {
                isDelivering = true
                return .deliver
            }
            return resumesReading() ? .resume : .none
        case .terminal:
            return .none
        }
    }

    mutating func received(_ element: Element) {
        guard state == .active else { return }
        buffer.append(element)
    }

    mutating func finished(_ completion: Subscribers.Completion<HTTPClientError>) {
        guard state == .active, self.completion == nil else { return }
        self.completion = completion
    }

    /// Returns whether to start delivering.
    mutating func flush() -> Bool {
        guard canDeliver else { return false }
        isDelivering = true
        return true
    }

    /// Whether the reader should read on. If not, a later event returns `resume`, or `true` from `delivered`.
    mutating func wantsMore() -> Bool {
        isPaused = !hasRoom
        return !isPaused
    }

    mutating func next() -> NextAction {
        guard state == .active else {
            isDelivering = false
            return .rest
        }
        if !buffer.isEmpty {
            guard demand > .none else {
                isDelivering = false
                return .rest
            }
            demand -= 1
            return .value(buffer.removeFirst())
        }
        isDelivering = false
        guard let completion else { return .rest }
        state = .terminal
        return .completion(completion)
    }

    /// The subscriber has taken a value. Returns whether to resume reading.
    mutating func delivered(_ more: Subscribers.Demand) -> Bool {
        guard state == .active else { return false }
        demand += more
        return resumesReading()
    }

    /// Returns whether there was anything to cancel.
    mutating func cancelled() -> Bool {
        guard state != .terminal else { return false }
        state = .terminal
        buffer = CircularBuffer()
        return true
    }

    private var canDeliver: Bool {
        guard state == .active, !isDelivering else { return false }
        return buffer.isEmpty ? completion != nil : demand > .none
    }

    private var hasRoom: Bool { demand > buffer.count && buffer.count < maximumBuffered }

    private mutating func resumesReading() -> Bool {
        guard isPaused, completion == nil, hasRoom else { return false }
        isPaused = false
        return true
    }
}
