import Dispatch
import NIOCore

/// The clock of a process, which may go faster or slower than that of the machine.
struct VirtualClock {
    private let start: NIODeadline
    private let rate: Double

    init(of machine: VirtualMachine, rate: Double = 1) {
        start = machine.start
        self.rate = rate
    }

    func reading(at instant: NIODeadline) -> NIODeadline { rate == 1 ? instant : scale(instant, by: rate) }

    /// The first instant at which the clock has this reading.
    func instant(of reading: NIODeadline) -> NIODeadline {
        rate == 1 ? reading : scale(reading, by: 1 / rate) + .nanoseconds(1)
    }

    private func scale(_ instant: NIODeadline, by factor: Double) -> NIODeadline {
        let span = Double((instant - start).nanoseconds) * factor
        // Some deadlines are as far away as possible.
        return start + .nanoseconds(Int64(min(span.rounded(.up), 4e18)))
    }
}

/// An event loop on a thread of a virtual machine.
final class VirtualLoop: EventLoop, @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    let machine: VirtualMachine
    let thread: VirtualMachine.Thread
    private let clock: VirtualClock

    init(on machine: VirtualMachine, clock: VirtualClock? = nil) {
        self.machine = machine
        self.clock = clock ?? VirtualClock(of: machine)
        thread = machine.makeThread()
    }

    var now: NIODeadline { clock.reading(at: machine.now) }
    var inEventLoop: Bool { machine.current == thread }

    func execute(_ task: @escaping @Sendable () -> Void) { machine.post(on: thread, task) }

    func scheduleTask<T>(deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        let promise = makePromise(of: T.self)
        let machine = machine
        let alarm = machine.schedule(at: clock.instant(of: deadline), on: thread) {
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
    let thread: VirtualMachine.Thread

    init(on machine: VirtualMachine) {
        self.machine = machine
        thread = machine.makeThread()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        machine.post(on: thread) { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
