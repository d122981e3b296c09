/// One of the compared things: does the same work as the others, `count` times, one after the other.
struct Competitor {
    var name: String
    var run: (_ count: Int) async throws -> Void

    init(_ name: String, _ run: @escaping (_ count: Int) async throws -> Void) {
        self.name = name
        self.run = run
    }
}

/// The measurement of a competitor that has done its work `count` times.
struct Turn {
    var count: Int
    var seconds: Double
    var processorTime: Double

    /// Repetitions per second.
    var perSecond: Double { Double(count) / seconds }
    /// Microseconds of processor time per repetition.
    var processorMicroseconds: Double { processorTime / Double(count) * 1e6 }

    static func measured(_ competitor: Competitor, _ count: Int) async throws -> Turn {
        let processorTime = processorSeconds()
        let time = try await benchmarks.seconds { try await competitor.run(count) }
        return Turn(count: count, seconds: time, processorTime: processorSeconds() - processorTime)
    }
}

/// A figure for each competitor, by default its repetitions per second: the medians of rounds in which all take turns,
/// so that other load on the machine affects all of them.
///
/// - Parameters:
///   - sample: the count of two runs before the rounds: one that opens connections and warms caches, one that
///     determines the count of a turn.
///   - secondsPerTurn: the approximate time of a competitor in a round; it runs at least once.
///   - figure: computes the figure of a turn.
func compare(
    _ competitors: [Competitor],
    sample: Int,
    rounds: Int,
    secondsPerTurn: Double,
    figure: (Turn) -> Double = { $0.perSecond }
) async throws -> [(name: String, figure: Double)] {
    let samples = try await measure(
        competitors,
        sample: sample,
        rounds: rounds,
        secondsPerTurn: secondsPerTurn,
        figure: figure
    )
    return zip(competitors, samples).map { ($0.name, $1.median) }
}

/// The figures of each competitor, one for each round; see ``compare(_:sample:rounds:secondsPerTurn:figure:)``.
func measure(
    _ competitors: [Competitor],
    sample: Int,
    rounds: Int,
    secondsPerTurn: Double,
    figure: (Turn) -> Double
) async throws -> [[Double]] {
    var counts: [Int] = []
    for competitor in competitors {
        try await competitor.run(sample)
        counts.append(max(1, Int(try await Turn.measured(competitor, sample).perSecond * secondsPerTurn)))
    }
    var samples = [[Double]](repeating: [], count: competitors.count)
    for _ in 0..<rounds {
        for (index, competitor) in competitors.enumerated() {
            samples[index].append(figure(try await Turn.measured(competitor, counts[index])))
        }
    }
    return samples
}
