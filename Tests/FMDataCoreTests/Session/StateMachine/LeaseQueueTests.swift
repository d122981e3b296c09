import CustomDump
import FMData
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataCore

/// Who waits for a session, in which order, and until when.
@Suite struct LeaseQueueTests {
    private typealias Entry = LeaseQueue.Entry

    /// - Parameter seconds: the deadline, from the start on.
    private static func entry(_ id: Int, _ purpose: LeasePurpose = .request, until seconds: Int64 = 30) -> Entry {
        Entry(
            id: .of(id),
            purpose: purpose,
            goodSince: .of(0),
            since: at(0),
            deadline: at(seconds),
            limit: .pool
        )
    }

    private static func at(_ seconds: Int64) -> NIODeadline { SessionMachineFixture.at(.seconds(seconds)) }

    private static func queue(_ entries: [Entry]) -> LeaseQueue {
        entries.reduce(into: LeaseQueue()) { $0.append($1) }
    }

    /// The ids of those that wait, in order.
    private static func waiting(_ queue: LeaseQueue) -> [Int] {
        (0..<queue.count).compactMap { queue.entry(at: $0)?.id.number }
    }

    // MARK: The order

    @Test func whoCameFirstIsFirst() {
        let queue = Self.queue([Self.entry(3, until: 9), Self.entry(5, until: 1), Self.entry(8, until: 5)])
        expectNoDifference(queue.first?.id, .of(3))
        expectNoDifference(Self.waiting(queue), [3, 5, 8])
        expectNoDifference(queue.entry(at: 3), nil)
        expectNoDifference(queue.count, 3)
        expectNoDifference(queue.isEmpty, false)
        expectNoDifference(LeaseQueue().isEmpty, true)
        expectNoDifference(LeaseQueue().first, nil)
    }

    @Test(arguments: [[1], [3], [5], [2, 3], [1, 2], [4, 5], [2, 1, 4], [5, 3, 1], [1, 2, 3, 4, 5]])
    func whoLeavesIsPassedOverWhereverTheyStood(leaving: [Int]) {
        var queue = Self.queue((1...5).map { Self.entry($0) })
        for id in leaving { expectNoDifference(queue.remove(.of(id)), Self.entry(id)) }
        let rest = (1...5).filter { !leaving.contains($0) }
        expectNoDifference(Self.waiting(queue), rest)
        expectNoDifference(queue.count, rest.count)
        expectNoDifference(queue.first?.id.number, rest.first)
        for id in leaving { expectNoDifference(queue.first { $0.id == .of(id) }, nil) }
        expectNoDifference(queue.removeAll().map(\.id.number), rest)
    }

    @Test func nobodyLeavesTwice() {
        var queue = Self.queue((1...4).map { Self.entry($0) })
        // The place of the second stays in the queue, that of the first does not.
        expectNoDifference(queue.remove(.of(2)), Self.entry(2))
        expectNoDifference(queue.remove(.of(2)), nil)
        expectNoDifference(queue.remove(.of(1)), Self.entry(1))
        expectNoDifference(queue.remove(.of(1)), nil)
        for stranger in [0, 5, 99] { expectNoDifference(queue.remove(.of(stranger)), nil) }
        expectNoDifference(Self.waiting(queue), [3, 4])
    }

    @Test func thePlacesOfThoseThatLeftAreSwept() throws {
        var queue = Self.queue([Self.entry(1)])
        for id in 2...1_000 {
            queue.append(Self.entry(id))
            _ = queue.remove(.of(id))
        }
        queue.append(Self.entry(1_001))
        expectNoDifference(Self.waiting(queue), [1, 1_001])
        expectNoDifference(queue.remove(.of(1_001)), Self.entry(1_001))
        // The places are private, and nothing else shows that they do not pile up behind a request that waits long.
        let places = Mirror(reflecting: queue).children.first { $0.label == "places" }?.value as? any Collection
        let count = try #require(places).count
        #expect(count <= 20)
    }

    // MARK: Deadlines

    @Test func whoIsLateLeavesInOrder() {
        var queue = Self.queue(
            [Self.entry(1, until: 5), Self.entry(2), Self.entry(3, until: 10), Self.entry(4, until: 7)]
        )
        expectNoDifference(queue.removeLate(Self.at(4)), [])
        // Whose deadline is now is late.
        expectNoDifference(queue.removeLate(Self.at(10)).map(\.id.number), [1, 3, 4])
        expectNoDifference(Self.waiting(queue), [2])
        expectNoDifference(queue.earliestDeadline, Self.at(30))
        expectNoDifference(queue.removeLate(Self.at(29)), [])
    }

    @Test func theEarliestDeadlineIsNeverTooLate() {
        var queue = Self.queue([Self.entry(1, until: 20), Self.entry(2, until: 10), Self.entry(3, until: 15)])
        expectNoDifference(queue.earliestDeadline, Self.at(10))
        // It belonged to one that has left. When it has passed, the next one is found.
        _ = queue.remove(.of(2))
        expectNoDifference(queue.earliestDeadline, Self.at(10))
        expectNoDifference(queue.removeLate(Self.at(10)), [])
        expectNoDifference(queue.earliestDeadline, Self.at(15))
        queue.append(Self.entry(4, until: 12))
        expectNoDifference(queue.earliestDeadline, Self.at(12))
    }

    @Test func anEmptyQueueHasNoDeadline() {
        var queue = Self.queue([Self.entry(1, until: 5)])
        _ = queue.remove(.of(1))
        expectNoDifference(queue.earliestDeadline, nil)
        queue.append(Self.entry(2, until: 40))
        expectNoDifference(queue.earliestDeadline, Self.at(40), "that of the last one is forgotten")
        _ = queue.removeLate(Self.at(40))
        expectNoDifference(queue.earliestDeadline, nil)
        queue.append(Self.entry(3, until: 50))
        expectNoDifference(queue.removeAll(), [Self.entry(3, until: 50)])
        expectNoDifference(queue.earliestDeadline, nil)
        expectNoDifference(queue.isEmpty, true)
    }

    // MARK: Sessions of their own

    @Test func thoseThatNeedASessionOfTheirOwnAreCountedApart() {
        var queue = Self.queue(
            [
                Self.entry(1), Self.entry(2, .pinned), Self.entry(3, .poll), Self.entry(4, .pinned, until: 5),
                Self.entry(5, .replay), Self.entry(6, .pinned), Self.entry(7, .pinned),
            ]
        )
        func pinned() -> [Int] { (0..<queue.pinnedCount).compactMap { queue.pinnedEntry(at: $0)?.id.number } }
        expectNoDifference(pinned(), [2, 4, 6, 7])
        expectNoDifference(queue.pinnedEntry(at: 4), nil)
        _ = queue.remove(.of(1))
        expectNoDifference(pinned(), [2, 4, 6, 7])
        _ = queue.remove(.of(6))
        expectNoDifference(pinned(), [2, 4, 7])
        _ = queue.removeLate(Self.at(5))
        expectNoDifference(pinned(), [2, 7])
        _ = queue.removeAll()
        expectNoDifference(queue.pinnedCount, 0)
    }

    // MARK: All of it

    /// Anything may happen in any order: the queue is a list that anyone may leave.
    @Test(arguments: 1...UInt64(Effort.of(60, brief: 1)))
    func itIsAListThatAnyoneMayLeave(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = LeaseQueue()
        var list: [Entry] = []
        var newest = 0
        var now: Int64 = 0
        for _ in 0..<Effort.of(400, brief: 150) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                newest += 1
                let purpose: LeasePurpose = Bool.random(using: &random) ? .request : .pinned
                let entry = Self.entry(newest, purpose, until: now + Int64.random(in: 1...40, using: &random))
                queue.append(entry)
                list.append(entry)
            case 4...6:
                // It may have left before, or not have come yet.
                let id = LeaseID.of(Int.random(in: 1...newest + 1, using: &random))
                let leaving = list.first { $0.id == id }
                expectNoDifference(queue.remove(id), leaving)
                list.removeAll { $0.id == id }
            default:
                now += Int64.random(in: 0...4, using: &random)
                let instant = Self.at(now)
                let late = list.filter { $0.deadline <= instant }
                expectNoDifference(queue.removeLate(instant), late)
                list.removeAll { $0.deadline <= instant }
            }
            expectNoDifference(Self.waiting(queue), list.map(\.id.number))
            expectNoDifference(queue.first, list.first)
            expectNoDifference(queue.pinnedCount, list.count { $0.purpose == .pinned })
            let earliest = list.map(\.deadline).min()
            expectNoDifference(queue.earliestDeadline == nil, earliest == nil)
            if let earliest, let noted = queue.earliestDeadline { #expect(noted <= earliest) }
        }
    }
}
