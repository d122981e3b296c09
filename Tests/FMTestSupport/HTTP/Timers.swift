public import NIOCore

extension EventLoopGroup {
    /// The times of its loops' scheduled tasks, in milliseconds from now. NIO shows them only in its description for
    /// debuggers.
    public func timers() async throws -> [Int] {
        var timers: [Int] = []
        for eventLoop in makeIterator() {
            // On the loop: the description reads the loop's own state.
            let text = try await eventLoop.submit { String(reflecting: eventLoop) }.get()
            let number = text.firstMatch(of: /scheduledTasks = PriorityQueue\(count: (\d+)\)/).flatMap { Int($0.1) }
            let now = Int(NIODeadline.now().uptimeNanoseconds)
            let due = text.matches(of: /ScheduledTask\(readyTime: [^0-9)]*(\d+)/).compactMap { Int($0.1) }
            guard number == due.count else { throw TimersUnknown() }
            timers += due.map { ($0 - now) / 1_000_000 }
        }
        return timers
    }
}

/// NIO's description of a loop does not have the expected format.
private struct TimersUnknown: Error {}
