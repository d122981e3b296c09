import CustomDump
import FMTestSupport
import Foundation
import Testing

/// Simulated worlds that follow from seeds. `Tests/Simulation/run` runs many more of them.
@Suite(.timeLimit(.minutes(15))) struct SimulationTests {
    @Test(.thorough, .serialized, arguments: RegressionSeeds.all)
    func oldFindingsStayAway(_ work: Work, _ seeds: [UInt64]) async { await hold(work, seeds) }

    @Test(.thorough, .serialized, arguments: Work.allCases.filter { !watching.contains($0) })
    func seedsHold(_ work: Work) async { await hold(work, 1...Self.count(of: work)) }

    /// Programs that watch simulate hours, so there are fewer of them. They run beside the others.
    @Test(.thorough, .serialized, arguments: watching)
    func seedsOfWatchingProgramsHold(_ work: Work) async { await hold(work, 1...Self.count(of: work)) }

    private static let watching = [Work.live, .copies, .restores, .accounts]

    private func hold(_ work: Work, _ seeds: some Sequence<UInt64> & Sendable) async {
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

    /// The number of worlds. Without optimisation one takes ten times as long, and finds nothing else.
    private static func count(of work: Work) -> UInt64 {
        let (optimised, unoptimised): (UInt64, UInt64) =
            switch work {
            case .calls, .journals: (300, 100)
            case .records: (300, 50)
            case .fleets: (300, 15)
            case .live: (100, 10)
            case .copies: (50, 15)
            case .restores: (50, 5)
            case .accounts: (25, 5)
            }
        #if DEBUG
        return unoptimised
        #else
        return optimised
        #endif
    }

    /// On a thread of its own: a world blocks its thread for long, and the other tests need theirs.
    private func onAThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
