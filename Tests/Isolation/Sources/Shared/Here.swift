import Dispatch

/// The place of the call: on the main actor, on a ``Clerk``, or in the background.
nonisolated func here() -> String { DispatchQueue.getSpecific(key: Turn.key) ?? "the background" }

/// Identifies queues, and actors by the queues they run on: the main actor by the main queue (on Linux not by the main
/// thread, which ends after the first `await` of a `main.swift`), a ``Clerk`` by its own.
nonisolated enum Turn {
    static let key = DispatchSpecificKey<String>()
}

nonisolated final class ClerkExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "clerk")

    init() { queue.setSpecific(key: Turn.key, value: "the actor") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
