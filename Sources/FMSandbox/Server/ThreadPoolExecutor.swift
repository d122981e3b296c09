import NIOPosix

/// Runs the responder's tasks on the sandbox's own threads. A test may block the threads of Swift's own pool, or the
/// event loops of its client, while it waits for an answer; the answer still comes.
final class ThreadPoolExecutor: TaskExecutor {
    static let shared = ThreadPoolExecutor(threads: 8)

    private let pool: NIOThreadPool

    /// The threads live as long as the process, like those of Swift's own pool.
    private init(threads: Int) {
        pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        pool.submit { _ in job.runSynchronously(on: executor) }
    }
}

/// The event loops that all sandboxes share, separate from those of the client under test.
enum SandboxLoops {
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
}
