internal import Dispatch
internal import FMHTTP

/// Runs the bodies on threads of their own at the same moment, several times, and returns when all are done.
public func race(rounds: Int = 100, _ bodies: (@Sendable () -> Void)...) {
    for _ in 0..<rounds {
        DispatchQueue.concurrentPerform(iterations: bodies.count) { bodies[$0]() }
    }
}

/// Runs the bodies at the same moment on threads that values are delivered on, and returns when all are done. Such a
/// thread leaves nothing of its work to others, so that all has arrived by then.
public func raceDeliveries(_ bodies: (@Sendable () -> Void)...) {
    let group = DispatchGroup()
    for body in bodies {
        group.enter()
        DeliveryThread.start {
            body()
            group.leave()
        }
    }
    group.wait()
}
