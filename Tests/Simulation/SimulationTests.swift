import CustomDump
import FMTestSupport
import Foundation
import Testing

/// Simulated worlds that follow from seeds: a few in a brief run, hundreds in CI, where the code is optimised.
/// `Tests/Simulation/run` runs many more of them.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SimulationTests {
    @Test(arguments: [
        (Work.calls, RegressionSeeds.seeds), (.live, RegressionSeeds.liveSeeds),
        (.accounts, RegressionSeeds.accountsSeeds), (.journals, RegressionSeeds.journalsSeeds),
        (.copies, RegressionSeeds.copiesSeeds),
    ])
    func oldFindingsStayAway(_ work: Work, _ seeds: [UInt64]) async {
        let seeds = seeds.prefix(Self.count(.max, brief: 1))
        for failure in await onAThread({ Search(seeds, work, stopsAfter: 1).failures }) { Issue.record("\(failure)") }
    }

    @Test(arguments: Work.allCases) func seedsHold(_ work: Work) async {
        // Programs with watching calls simulate hours.
        let count =
            switch work {
            case .calls, .records, .journals, .fleets: Self.count(300, brief: 2)
            case .live: Self.count(100, brief: 1)
            case .copies, .restores: Self.count(50, brief: 1)
            case .accounts: Self.count(25, brief: 1)
            }
        let seeds = 1...UInt64(count)
        for failure in await onAThread({ Search(seeds, work, stopsAfter: 1).failures }) { Issue.record("\(failure)") }
    }

    @Test(arguments: [3, 17, 420] as [UInt64])
    func theSameSeedGivesTheSameTrace(_ seed: UInt64) async {
        let (first, second) = await onAThread {
            let program = Program(seed: seed, calls: 100)
            return (Simulation.run(program, keepsTrace: true), Simulation.run(program, keepsTrace: true))
        }
        expectNoDifference(first.trace, second.trace)
        #expect(first.trace.count > 100)
    }

    /// Without optimisation a world takes ten times as long, and finds nothing else.
    private static func count(_ thorough: Int, brief: Int) -> Int {
        #if DEBUG
        brief
        #else
        Effort.of(thorough, brief: brief)
        #endif
    }

    /// On a thread of its own: a world blocks its thread for long, and the other tests need theirs.
    private func onAThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
