import FMHTTP

/// Makes sure that only one thread at a time works for a subscription. A call that comes meanwhile, from another thread
/// or from inside a value's delivery, only records its event in the subscription's state and returns; the working
/// thread checks that state before it stops.
///
/// A thread of the program, which has subscribed or asked for more, does not do the work that another thread's event
/// causes: the answer of a host that is faster than the program's thread arrives in the background, as it would if it
/// were slower.
///
/// It is guarded by the lock that guards that state.
package struct SoleWorker {
    /// The thread at work; `nil` from ``leaves()`` on, since the work then goes on in the background.
    private var thread: ThreadID?
    private var isAtWork = false
    private var isOvertaken = false

    package init() {}

    /// Returns whether the caller becomes the worker. If so, it has to work until there is nothing left to do and then
    /// call ``stop()``, holding the lock under which it found nothing, or until ``leaves()``.
    package mutating func start() -> Bool {
        if isAtWork { return false }
        isAtWork = true
        thread = .current
        return true
    }

    package mutating func stop() { self = SoleWorker() }

    /// Something has come that may have to be delivered; demand is no such event. Called under the lock under which the
    /// state learns of it.
    package mutating func noteEvent() {
        if let thread, thread != .current { isOvertaken = true }
    }

    /// Whether the worker has to leave the rest to a background thread, which becomes the worker without ``start()``.
    /// Called by the worker before each step.
    package mutating func leaves() -> Bool {
        guard isOvertaken else { return false }
        isOvertaken = false
        // A background thread may as well deliver it itself.
        if DeliveryThread.isCurrent { return false }
        thread = nil
        return true
    }
}

/// Work that goes on elsewhere.
package protocol DeferredWorker: AnyObject, Sendable {
    /// Goes on: in the turn of an actor that was asked for, or on a background thread after ``goOnInBackground()``.
    func goOn()
}

extension DeferredWorker {
    package func goOnInBackground() {
        let worker: any DeferredWorker = self
        DeliveryThread.start { worker.goOn() }
    }
}
