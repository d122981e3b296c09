import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// Which answers are cached, and for how long.
@Suite struct KeptAnswersTests {
    private func instant(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(1_000_000_000) + .seconds(seconds) }

    @Test func anAnswerServesUntilItIsTooOldForWhoAsks() {
        var kept = KeptAnswers<String, Int>(room: 2)
        expectNoDifference(kept.keep(1, to: "a", asked: instant(0)), nil)
        expectNoDifference(kept.answer(to: "a", within: .seconds(10), instant(9)), 1)
        expectNoDifference(kept.answer(to: "a", within: .seconds(10), instant(10)), nil)
        expectNoDifference(kept.answer(to: "a", within: .seconds(20), instant(10)), 1)
        expectNoDifference(kept.answer(to: "b", within: .seconds(20), instant(10)), nil)
    }

    @Test func aNewerAnswerTakesThePlaceOfTheOlder() {
        var kept = KeptAnswers<String, Int>(room: 2)
        _ = kept.keep(1, to: "a", asked: instant(0))
        expectNoDifference(kept.keep(2, to: "a", asked: instant(5)), 1)
        expectNoDifference(kept.answer(to: "a", within: .seconds(10), instant(9)), 2)
        expectNoDifference(kept.count, 1)
    }

    @Test func whatNobodyHasAskedForLongestGoesFirst() {
        var kept = KeptAnswers<String, Int>(room: 2)
        _ = kept.keep(1, to: "a", asked: instant(0))
        _ = kept.keep(2, to: "b", asked: instant(0))
        _ = kept.answer(to: "a", within: .seconds(10), instant(1))
        expectNoDifference(kept.keep(3, to: "c", asked: instant(1)), 2)
        expectNoDifference(kept.count, 2)
        expectNoDifference(kept.answer(to: "b", within: .seconds(10), instant(1)), nil)
    }

    @Test func answersGoInTheOrderOfTheirLastUse() {
        let keys = ["a", "b", "c", "d", "e", "f"]
        var kept = KeptAnswers<String, String>(room: keys.count)
        for key in keys { _ = kept.keep(key, to: key, asked: instant(0)) }
        for key in keys.reversed() { _ = kept.answer(to: key, within: .seconds(10), instant(1)) }
        let removed = (1...keys.count).map { kept.keep("new", to: "new \($0)", asked: instant(1)) }
        expectNoDifference(removed, keys.reversed())
    }

    @Test func allIsForgotten() {
        var kept = KeptAnswers<String, Int>(room: 2)
        _ = kept.keep(1, to: "a", asked: instant(0))
        expectNoDifference(kept.forget(), [1])
        expectNoDifference(kept.answer(to: "a", within: .seconds(10), instant(1)), nil)
        expectNoDifference(kept.forget(), [])
    }
}
