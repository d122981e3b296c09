import Dispatch
import Foundation

/// Where this is called: on the main actor, on a ``Clerk``, or in the background.
nonisolated func here() -> String {
    if Thread.isMainThread { return "main actor" }
    return ClerkExecutor.isCurrent ? "the actor" : "background"
}

nonisolated final class ClerkExecutor: SerialExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "clerk")

    init() { queue.setSpecific(key: Self.key, value: true) }

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
