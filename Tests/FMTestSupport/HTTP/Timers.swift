public import NIOCore

extension EventLoopGroup {
    /// How many tasks its loops have been told to do later. NIO says so nowhere but in the description for debuggers.
    public func timerCount() async throws -> Int {
        var count = 0
        for eventLoop in makeIterator() {
            // On the loop: the description reads what belongs to it.
            let text = try await eventLoop.submit { String(reflecting: eventLoop) }.get()
            let number = text.firstMatch(of: /scheduledTasks = PriorityQueue\(count: (\d+)\)/)
            guard let number = number.flatMap({ Int($0.1) }) else { throw TimersUnknown() }
            count += number
        }
        return count
    }
}

/// NIO describes its loops in other words than this helper knows.
private struct TimersUnknown: Error {}
