import CustomDump
import FMData
import FMTestSupport
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import FMDataCore

/// A blocked main actor is logged once.
@Suite struct BlockedActorWatchTests {
    private let eventLoop = EmbeddedEventLoop()
    private let lines = LogLines()

    private var watch: BlockedActorWatch { BlockedActorWatch(eventLoop: eventLoop, logger: lines.logger(.warning)) }

    @Test func aTurnThatComesInTimeIsNoNews() {
        let turn = watch.waiting(for: MainActor.shared)
        eventLoop.advanceTime(by: .seconds(2))
        turn?.hasCome()
        eventLoop.advanceTime(by: .seconds(60))
        expectNoDifference(lines.all.count, 0)
    }

    @Test func threeSecondsAreToldOnce() {
        let watch = watch
        _ = watch.waiting(for: MainActor.shared)
        _ = watch.waiting(for: MainActor.shared)
        eventLoop.advanceTime(by: .seconds(3))
        expectNoDifference(lines.all.count, 1)
        #expect("\(lines.all)".contains("the main thread is blocked"))
        _ = watch.waiting(for: MainActor.shared)
        eventLoop.advanceTime(by: .seconds(60))
        expectNoDifference(lines.all.count, 1)
    }

    @Test func anActorOfOnesOwnMayTakeItsTime() {
        actor Slow {}
        #expect(watch.waiting(for: Slow()) == nil)
        eventLoop.advanceTime(by: .seconds(60))
        expectNoDifference(lines.all.count, 0)
    }
}
