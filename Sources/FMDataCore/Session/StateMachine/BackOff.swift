package import NIOCore

/// The pause between two attempts at a full server. It doubles, and its upper half is drawn at random so that many
/// clients do not return at the same time.
package struct BackOff: Equatable {
    let minimum: TimeAmount
    package let maximum: TimeAmount
    private var refusals = 0

    package init(minimum: TimeAmount, maximum: TimeAmount) {
        self.minimum = minimum
        self.maximum = max(minimum, maximum)
    }

    /// The pause after one more refusal; `jitter` is drawn from `0...1`.
    package mutating func next(jitter: Double) -> TimeAmount {
        defer { refusals += 1 }
        return pause(jitter: jitter)
    }

    /// The current pause.
    func pause(jitter: Double) -> TimeAmount {
        let doublings = min(refusals, 40)
        let whole = min(Double(maximum.nanoseconds), Double(minimum.nanoseconds) * Double(1 << doublings))
        let part = whole * (0.5 + 0.5 * min(max(jitter, 0), 1))
        return .nanoseconds(Int64(min(part, Double(Int64.max / 4))))
    }

    /// The shortest pause, regardless of earlier refusals.
    package func least(jitter: Double) -> TimeAmount {
        BackOff(minimum: minimum, maximum: maximum).pause(jitter: jitter)
    }

    package mutating func reset() {
        refusals = 0
    }
}
