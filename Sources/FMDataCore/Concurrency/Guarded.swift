import NIOConcurrencyHelpers

/// State with the lock that guards it, for state that is not `Sendable`: subscribers, subscriptions and closures of the
/// program. Use `NIOLockedValueBox` where the state is `Sendable`.
///
/// (`Synchronization.Mutex` would do, too, but on Linux it waits in the kernel, unseen by the thread sanitizer, which
/// then reports a race wherever two threads have met.)
package struct Guarded<State>: @unchecked Sendable {
    // @unchecked: the state is used under the lock only. What leaves it are subscribers and subscriptions, which may be
    // called on any thread, and values that have left the state for good.
    private let box: NIOLockedValueBox<State>

    package init(_ state: State) { box = NIOLockedValueBox(state) }

    package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try box.withLockedValue(body)
    }
}

/// A publisher of OpenCombine that may be used from any thread but is not declared `Sendable`.
package struct SelfGuarded<Object: AnyObject>: @unchecked Sendable {
    // @unchecked: subjects, and the publishers of `ObservableObject`s, guard their values and subscribers by locks of
    // their own.
    package let object: Object

    package init(_ object: Object) { self.object = object }
}
