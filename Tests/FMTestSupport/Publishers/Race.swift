internal import Dispatch
internal import FMHTTP
internal import Foundation

/// Runs the bodies on threads of Dispatch at the same moment, several times, and returns when all are done.
public func race(rounds: Int = 100, _ bodies: (@Sendable () -> Void)...) {
    for _ in 0..<rounds {
        DispatchQueue.concurrentPerform(iterations: bodies.count) { bodies[$0]() }
    }
}

/// Runs the bodies at the same moment, each on a thread of its own, and returns when all are done.
public func raceThreads(_ bodies: (@Sendable () -> Void)...) {
    race(bodies) { Thread.detachNewThread($0) }
}

/// Runs the bodies at the same moment on threads that values are delivered on, and returns when all are done. Such a
/// thread leaves nothing of its work to others, so that all has arrived by then.
public func raceDeliveries(_ bodies: (@Sendable () -> Void)...) {
    race(bodies, DeliveryThread.start)
}

private func race(_ bodies: [@Sendable () -> Void], _ start: (@escaping @Sendable () -> Void) -> Void) {
    let group = DispatchGroup()
    for body in bodies {
        group.enter()
        start {
            body()
            group.leave()
        }
    }
    group.wait()
}
