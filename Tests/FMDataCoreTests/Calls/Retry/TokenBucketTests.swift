import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// The bucket behind the budget of further attempts and the rate of polls.
@Suite struct TokenBucketTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test func itIsFullAtFirstAndTimeFillsItNoFurther() {
        var bucket = TokenBucket(burst: 3, perSecond: 2)
        bucket.fill(until: start)
        expectNoDifference(bucket.take(atMost: 2), 2)
        expectNoDifference(bucket.take(atMost: 2), 1)
        expectNoDifference(bucket.take(atMost: 2), 0)
        bucket.fill(until: start + .milliseconds(500))
        expectNoDifference(bucket.take(atMost: 2), 1)
        bucket.fill(until: start + .hours(1))
        expectNoDifference(bucket.take(atMost: 10), 3)
    }

    @Test func theNextTokenIsThereWhenItSaysSo() {
        var bucket = TokenBucket(burst: 1, perSecond: 0.5)
        bucket.fill(until: start)
        expectNoDifference(bucket.take(atMost: 1), 1)
        let next = bucket.next
        expectNoDifference((next - start).nanoseconds / 1_000_000, 2_000)
        bucket.fill(until: next)
        expectNoDifference(bucket.take(atMost: 1), 1)
    }

    @Test func tokensFromElsewhereStayAndTenTenthsAreOne() {
        var bucket = TokenBucket(burst: 0, perSecond: 0)
        for _ in 1...10 { bucket.add(0.1, upTo: 1) }
        bucket.fill(until: start)
        bucket.fill(until: start + .hours(1))
        expectNoDifference(bucket.take(atMost: 1), 1)
        bucket.add(5, upTo: 1)
        expectNoDifference(bucket.take(atMost: 5), 1)
    }

    @Test func noTimeCountsTwiceUnlessTheOnlyClockIsSetBack() {
        var bucket = TokenBucket(burst: 1, perSecond: 1)
        bucket.fill(until: start)
        _ = bucket.take(atMost: 1)
        bucket.fill(until: start - .seconds(1))
        bucket.fill(until: start)
        expectNoDifference(bucket.take(atMost: 1), 0)
        bucket.setBack(to: start - .seconds(1))
        bucket.fill(until: start)
        expectNoDifference(bucket.take(atMost: 1), 1)
    }
}
