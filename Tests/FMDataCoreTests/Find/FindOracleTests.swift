import CustomDump
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore

/// Random finds over a small random table: an independent reader of criteria applies the compiled requests one after
/// the other and must find the records for which the expression is true.
@Suite struct FindOracleTests {
    /// Fields with one value, then also fields with several values, for which more finds are refused. A find that is
    /// refused names the conditions that FileMaker cannot express together.
    @Test(arguments: [false, true])
    func compiledFindsFindWhatTheirExpressionSays(withSeveralValues: Bool) {
        let samples = FindSamples(withSeveralValues: withSeveralValues)
        var refusals: [DataAPI.FindError.Code: Int] = [:]
        let count = Effort.of(20, brief: 2) * 75
        for seed in 0..<count {
            var generator = SeededRandom(seed: 1000 + UInt64(seed))
            let table = (0..<24).map { _ in FindSamples.record(using: &generator) }
            let sample = samples.sample(depth: 3, using: &generator)
            let expected = Set(table.indices.filter { sample.holds(table[$0]) })
            do throws(DataAPI.FindError) {
                let requests = try sample.find.requests()
                #expect(FindMatcher(table: table).find(requests) == expected, "\(requests)")
                #expect(requests == (try? sample.find.requests()))
            } catch {
                switch error.code {
                case .matchesNothing: #expect(expected.isEmpty)
                case .matchesEverything: #expect(expected.count == table.count)
                default: refusals[error.code, default: 0] += 1
                }
            }
        }
        expectNoDifference(Set(refusals.keys).subtracting([.sameField, .tooComplex]), [])
        #expect(refusals.values.reduce(0, +) * 2 < count, "\(refusals) of \(count)")
    }
}
