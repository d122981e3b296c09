import Dispatch
import NIOCore

/// An event loop on a thread of a virtual machine.
final class VirtualLoop: EventLoop, @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    let machine: VirtualMachine
    let thread: VirtualMachine.Thread

    init(on machine: VirtualMachine) {
        self.machine = machine
        thread = machine.makeThread()
    }

    var now: NIODeadline { machine.now }
    var inEventLoop: Bool { machine.current == thread }

    func execute(_ task: @escaping @Sendable () -> Void) { machine.post(on: thread, task) }

    func scheduleTask<T>(deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        let promise = makePromise(of: T.self)
        let machine = machine
        let alarm = machine.schedule(at: deadline, on: thread) {
            do {
                promise.assumeIsolated().succeed(try task())
            } catch {
                promise.fail(error)
            }
        } orDrop: {
            promise.fail(EventLoopError.shutdown)
        }
        return Scheduled(promise: promise) { machine.callOff(alarm) }
    }

    func scheduleTask<T>(in span: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        scheduleTask(deadline: now + span, task)
    }

    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        preconditionFailure("a virtual loop ends with its world")
    }
}

/// The loops of a world's client.
final class VirtualLoopGroup: EventLoopGroup, @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    private let loops: [VirtualLoop]
    private var last = 0

    init(_ loops: [VirtualLoop]) { self.loops = loops }

    func next() -> any EventLoop {
        last = (last + 1) % loops.count
        return loops[last]
    }

    func any() -> any EventLoop { loops.first(where: \.inEventLoop) ?? loops[0] }

    func makeIterator() -> EventLoopIterator { EventLoopIterator(loops) }

    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        preconditionFailure("virtual loops end with their world")
    }
}

/// Runs Swift's tasks on a thread of a virtual machine.
final class VirtualExecutor: TaskExecutor, @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    private let machine: VirtualMachine
    private let thread: VirtualMachine.Thread

    init(on machine: VirtualMachine) {
        self.machine = machine
        thread = machine.makeThread()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        machine.post(on: thread) { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
