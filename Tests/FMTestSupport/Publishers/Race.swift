internal import Dispatch

/// Runs the bodies on threads of their own at the same moment, several times, and returns when all are done.
public func race(rounds: Int = 100, _ bodies: (@Sendable () -> Void)...) {
    for _ in 0..<rounds {
        DispatchQueue.concurrentPerform(iterations: bodies.count) { bodies[$0]() }
    }
}
