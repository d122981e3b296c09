package import FMTesting
package import NIOCore

extension TestClock {
    /// Moves the clock on, and fires the timers on the way.
    @_disfavoredOverload
    package func advance(by amount: TimeAmount) { advance(by: .nanoseconds(amount.nanoseconds)) }
}
