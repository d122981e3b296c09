import NIOPosix

/// Runs the responder's tasks on threads of the sandbox itself. A test that blocks the threads of Swift's own pool (or the
/// event loops of its client) while it waits for an answer then still gets one.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
final class ThreadPoolExecutor: TaskExecutor {
    static let shared = ThreadPoolExecutor(threads: 8)

    private let pool: NIOThreadPool

    /// The threads live as long as the process, as those of Swift's own pool do.
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

/// The event loops that sandboxes share, apart from those of the client under test.
enum SandboxLoops {
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
}
