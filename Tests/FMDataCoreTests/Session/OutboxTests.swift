import CustomDump
import FMData
import FMTestSupport
import NIOConcurrencyHelpers
import Testing

@testable import FMDataCore

/// The order in which notifications and side effects leave the outbox, also with several threads.
@Suite struct OutboxTests {
    private typealias Box = Outbox<String, String>

    /// Empties the outbox on the calling thread, without running anything, and returns what the thread would do.
    private func done(by box: inout Box) -> [String] {
        var done: [String] = []
        var entry = box.next()
        while let current = entry {
            done += current.parts
            entry = box.next(after: current)
        }
        return done
    }

    /// Does the same on another thread.
    private func doneElsewhere(by box: inout Box) -> [String] {
        let shared = Guarded((box: box, done: [String]()))
        raceThreads({ shared.change { shared in shared.done = done(by: &shared.box) } })
        shared.change { box = $0.box }
        return shared.change { $0.done }
    }

    @Test func everythingIsDoneInOrder() {
        var box = Box()
        box.post("logged in")
        box.post(["grant 1", "grant 2"], followNews: true)
        box.post([], followNews: false)
        box.post(["grant 3"], followNews: false)
        box.post("logged out")
        expectNoDifference(done(by: &box), ["logged in", "grant 1", "grant 2", "grant 3", "logged out"])
        #expect(box.isEmpty)
        expectNoDifference(done(by: &box), [])
    }

    @Test func whileSomebodyTellsNewsWhatFollowsFromOthersWaitsAndNothingElseDoes() {
        var box = Box()
        box.post("logged in")
        let told = box.next()
        box.post("logged out")
        box.post(["finish"], followNews: true)
        box.post(["grant"], followNews: false)
        expectNoDifference(doneElsewhere(by: &box), ["grant"])
        // The rest belongs to the thread that delivers the notification.
        var rest: [String] = []
        var entry = box.next(after: told)
        while let current = entry {
            rest += current.parts
            entry = box.next(after: current)
        }
        expectNoDifference(rest, ["logged out", "finish"])
        #expect(box.isEmpty)
    }

    @Test func whatAnEffectCausesIsRunWhenItHasReturned() {
        var box = Box()
        box.post(["grant 1"], followNews: false)
        let outer = box.next()
        box.post(["grant 2"], followNews: false)
        // As if called inside of the first side effect.
        expectNoDifference(done(by: &box), [])
        expectNoDifference(box.next(after: outer)?.parts, ["grant 2"])
    }

    @Test func anotherThreadMayRunWhatAnEffectHasCaused() {
        var box = Box()
        box.post(["one that takes its time"], followNews: false)
        let outer = box.next()
        box.post(["grant"], followNews: false)
        expectNoDifference(doneElsewhere(by: &box), ["grant"])
        expectNoDifference(box.next(after: outer)?.parts, nil)
    }

    @Test func newsThatAnEffectCausesAreToldAtOnce() {
        var box = Box()
        box.post(["adopt"], followNews: false)
        let outer = box.next()
        box.post("logged in")
        box.post(["grant"], followNews: true)
        expectNoDifference(done(by: &box), ["logged in"])
        expectNoDifference(box.next(after: outer)?.parts, ["grant"])
    }

    @Test func whoIsToldNewsMayCauseEffectsAndSeesThemRun() {
        var box = Box()
        box.post("logged in")
        let told = box.next()
        box.post(["log in"], followNews: false)
        expectNoDifference(done(by: &box), ["log in"])
        expectNoDifference(box.next(after: told)?.parts, nil)
    }

    /// Many threads post to and empty one outbox: each entry leaves it once, and notifications are delivered one at a
    /// time.
    @Test func nothingIsLostAndNewsAreToldOneAtATime() {
        struct Shared {
            var box = Outbox<Int, Int>()
            var isTelling = false
            var overlaps = 0
            var news: [Int] = []
            var effects: [Int] = []
        }
        let shared = Guarded(Shared())
        let work: @Sendable (Int) -> Void = { first in
            for number in first..<first + 500 {
                var entry = shared.change { shared in
                    shared.box.post(number)
                    shared.box.post([number], followNews: true)
                    return shared.box.next()
                }
                while let current = entry {
                    switch current {
                    case .news(let number):
                        shared.change { shared in
                            if shared.isTelling { shared.overlaps += 1 }
                            shared.isTelling = true
                            shared.news.append(number)
                        }
                        shared.change { $0.isTelling = false }
                    case .effects(let numbers, _):
                        shared.change { $0.effects += numbers }
                    }
                    entry = shared.change { $0.box.next(after: current) }
                }
            }
        }
        raceThreads({ work(0) }, { work(500) }, { work(1000) }, { work(1500) })
        let end = shared.change { $0 }
        #expect(end.box.isEmpty)
        expectNoDifference(end.overlaps, 0)
        expectNoDifference(end.news.sorted(), Array(0..<2000))
        expectNoDifference(end.effects.sorted(), Array(0..<2000))
    }
}

/// A value that several threads share.
private final class Guarded<Value>: @unchecked Sendable {
    // @unchecked: `lock` guards `value`.
    private let lock = NIOLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func change<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

extension Outbox<String, String>.Entry {
    fileprivate var parts: [String] {
        switch self {
        case .news(let news): [news]
        case .effects(let effects, _): effects
        }
    }
}
