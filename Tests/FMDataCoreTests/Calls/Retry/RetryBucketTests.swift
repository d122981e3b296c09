import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// The budget from which retries are paid.
@Suite struct RetryBucketTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    /// The number of retries that the bucket pays for at once.
    private func rest(of bucket: RetryBucket, at now: NIODeadline) -> Int {
        var bucket = bucket
        var count = 0
        while count < 1000, bucket.pay(now: now) { count += 1 }
        return count
    }

    @Test func itBeginsWithItsBurst() {
        expectNoDifference(rest(of: RetryBucket(share: 0.1, burst: 10), at: start), 10)
    }

    @Test func callsPayTheirShare() {
        var bucket = RetryBucket(share: 0.1, burst: 10)
        while bucket.pay(now: start) {}
        for calls in 1...30 {
            bucket.called(now: start)
            expectNoDifference(rest(of: bucket, at: start), calls / 10)
        }
    }

    /// A thousand calls to a server that answers none of them cause at most a hundred retries more than the burst.
    @Test func aServerInTroubleIsSparedTheRest() {
        var bucket = RetryBucket(share: 0.1, burst: 10)
        var attempts = 0
        for _ in 1...1000 {
            bucket.called(now: start)
            for _ in 1...3 where bucket.pay(now: start) { attempts += 1 }
        }
        #expect((109...110).contains(attempts), "\(attempts)")
    }

    @Test func theBurstComesBackWithinAMinute() {
        var bucket = RetryBucket(share: 0.1, burst: 10)
        while bucket.pay(now: start) {}
        expectNoDifference(rest(of: bucket, at: start + .seconds(5)), 0)
        expectNoDifference(rest(of: bucket, at: start + .seconds(6)), 1)
        expectNoDifference(rest(of: bucket, at: start + .seconds(60)), 10)
        expectNoDifference(rest(of: bucket, at: start + .hours(24)), 10)
    }

    @Test func withoutABurstTenCallsPayOne() {
        var bucket = RetryBucket(share: 0.1, burst: 0)
        expectNoDifference(rest(of: bucket, at: start), 0)
        for _ in 1...9 { bucket.called(now: start) }
        expectNoDifference(rest(of: bucket, at: start), 0)
        for _ in 1...100 { bucket.called(now: start) }
        expectNoDifference(rest(of: bucket, at: start + .hours(1)), 1)
    }

    @Test func clocksThatDifferDoNotMatter() {
        var bucket = RetryBucket(share: 0.1, burst: 10)
        while bucket.pay(now: start + .seconds(30)) {}
        expectNoDifference(rest(of: bucket, at: start), 0)
        bucket.called(now: start)
        expectNoDifference(rest(of: bucket, at: start + .seconds(35)), 0)
        expectNoDifference(rest(of: bucket, at: start + .seconds(36)), 1)
    }

    @Test(arguments: [(Double.nan, -5), (-1, .min), (.infinity, .max), (0, 0)])
    func anyNumbersWillDo(share: Double, burst: Int) {
        var bucket = RetryBucket(share: share, burst: burst)
        bucket.called(now: start)
        bucket.called(now: start + .hours(1))
        expectNoDifference(bucket.pay(now: start + .hours(1)), share == .infinity)
    }

    @Test func budgetsAreEqualWhenTheyAreTheSame() {
        let budget = DataAPI.RetryBudget()
        #expect(DataAPI.RetryPolicy(budget: budget) == DataAPI.RetryPolicy(budget: budget))
        #expect(DataAPI.RetryPolicy(budget: budget) != DataAPI.RetryPolicy(budget: DataAPI.RetryBudget()))
        #expect(Set([budget, budget, DataAPI.RetryBudget()]).count == 2)
    }
}
