import CustomDump
import FMTestSupport
import Foundation
import Testing

/// Simulated worlds that follow from seeds: a few of them, and hundreds where the code is optimised, as in CI.
/// `Tests/Simulation/run` runs many more of them.
@Suite(.timeLimit(.minutes(15))) struct SimulationTests {
    @Test(
        .thorough,
        .serialized,
        arguments: [
            (Work.calls, RegressionSeeds.seeds), (.live, RegressionSeeds.liveSeeds),
            (.accounts, RegressionSeeds.accountsSeeds), (.journals, RegressionSeeds.journalsSeeds),
            (.copies, RegressionSeeds.copiesSeeds),
        ]
    )
    func oldFindingsStayAway(_ work: Work, _ seeds: [UInt64]) async {
        let seeds = seeds.prefix(Self.count(.max, unoptimised: 1))
        for failure in await onAThread({ Search(seeds, work, stopsAfter: 1).failures }) { Issue.record("\(failure)") }
    }

    @Test(.thorough, .serialized, arguments: Work.allCases.filter { !watching.contains($0) })
    func seedsHold(_ work: Work) async { await hold(work, Self.count(300, unoptimised: 2)) }

    /// Programs that watch simulate hours, so there are fewer of them. They run beside the others.
    @Test(.thorough, .serialized, arguments: watching)
    func seedsOfWatchingProgramsHold(_ work: Work) async {
        let count =
            switch work {
            case .live: 100
            case .accounts: 25
            default: 50
            }
        await hold(work, Self.count(count, unoptimised: 1))
    }

    private static let watching = [Work.live, .copies, .restores, .accounts]

    private func hold(_ work: Work, _ count: Int) async {
        let seeds = 1...UInt64(count)
        for failure in await onAThread({ Search(seeds, work, stopsAfter: 1).failures }) { Issue.record("\(failure)") }
    }

    @Test(.thorough, .serialized, arguments: [3, 17, 420] as [UInt64])
    func theSameSeedGivesTheSameTrace(_ seed: UInt64) async {
        let (first, second) = await onAThread {
            let program = Program(seed: seed, calls: 100)
            return (Simulation.run(program, keepsTrace: true), Simulation.run(program, keepsTrace: true))
        }
        expectNoDifference(first.trace, second.trace)
        #expect(first.trace.count > 100)
    }

    /// Without optimisation a world takes ten times as long, and finds nothing else.
    private static func count(_ optimised: Int, unoptimised: Int) -> Int {
        #if DEBUG
        unoptimised
        #else
        optimised
        #endif
    }

    /// On a thread of its own: a world blocks its thread for long, and the other tests need theirs.
    private func onAThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
