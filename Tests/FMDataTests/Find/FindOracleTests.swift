import FMTestSupport
import Testing

@testable import FMData

/// Random finds over a small random table: an independent reader of criteria applies the compiled requests one after
/// the other and must find the records for which the expression is true.
@Suite struct FindOracleTests {
    private static let seedCount = UInt64(Effort.of(20, brief: 1))

    /// Calls `body` with random finds, and with tables to try them on.
    private static func forEach(
        seeds: Range<UInt64>,
        withSeveralValues: Bool,
        _ body: (FindSample, FindMatcher, _ expected: Set<Int>) -> Void
    ) {
        let samples = FindSamples(withSeveralValues: withSeveralValues)
        for seed in seeds {
            var generator = SeededRandom(seed: 1000 + seed)
            for _ in 0..<75 {
                let table = (0..<24).map { _ in FindSamples.record(using: &generator) }
                let sample = samples.sample(depth: 4, using: &generator)
                body(sample, FindMatcher(table: table), Set(table.indices.filter { sample.holds(table[$0]) }))
            }
        }
    }

    /// Fields with one value, then also fields with several values, for which more finds are refused.
    @Test(arguments: [false, true])
    func compiledFindsFindWhatTheirExpressionSays(withSeveralValues: Bool) {
        var (refusedCount, count) = (0, 0)
        Self.forEach(seeds: 0..<Self.seedCount, withSeveralValues: withSeveralValues) { sample, matcher, expected in
            count += 1
            do throws(DataAPI.FindError) {
                let requests = try sample.find.requests()
                #expect(matcher.find(requests) == expected, "\(requests)")
                #expect(requests == (try? sample.find.requests()))
            } catch {
                switch error.code {
                case .matchesNothing: #expect(expected.isEmpty)
                case .matchesEverything: #expect(expected.count == matcher.table.count)
                default:
                    // A find that is not refused for its size cannot be expressed at all, and the error shows an
                    // example.
                    #expect(error.code == .sameField && error.example != nil, "\(error)")
                    refusedCount += 1
                }
            }
        }
        #expect(
            Double(refusedCount) <= Double(count) * (withSeveralValues ? 0.1 : 0.02),
            "\(refusedCount) of \(count)"
        )
    }

    /// With several calls no find is refused, however few requests a call may have.
    @Test(arguments: [3, 1000])
    func severalCallsFindWhatTheirExpressionSays(maximumRequests: Int) throws {
        var severalCount = 0
        Self.forEach(seeds: 20..<20 + Self.seedCount, withSeveralValues: true) { sample, matcher, expected in
            do throws(DataAPI.FindError) {
                let plan = try sample.find.plan(maximumRequests: maximumRequests, maximumCalls: 100)
                #expect(plan.parts.joined().allSatisfy { $0.count <= maximumRequests })
                #expect(matcher.find(plan) == expected, "\(plan)")
                if plan.callCount > 1 { severalCount += 1 }
            } catch {
                #expect(error.code == .matchesEverything, "\(error)")
            }
        }
        #expect(severalCount > Effort.of(50, brief: 2))
    }
}

extension FindMatcher {
    func find(_ plan: FindPlan) -> Set<Int> {
        plan.parts.reduce(into: []) { found, calls in
            let answers = calls.map { find($0.map(\.request)) }
            found.formUnion(answers.dropFirst().reduce(answers[0]) { $0.intersection($1) })
        }
    }
}
