public import NIOCore

extension EventLoopGroup {
    /// In how many milliseconds its loops will do what they were told to do later. NIO says so nowhere but in the description
    /// for debuggers.
    public func timers() async throws -> [Int] {
        var timers: [Int] = []
        for eventLoop in makeIterator() {
            // On the loop: the description reads what belongs to it.
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

/// NIO describes its loops in other words than this helper knows.
private struct TimersUnknown: Error {}
