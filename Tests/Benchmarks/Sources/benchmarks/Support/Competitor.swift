/// One of those that are compared: does the same thing as the others, `count` times, one after the other.
struct Competitor {
    var name: String
    var run: (_ count: Int) async throws -> Void

    init(_ name: String, _ run: @escaping (_ count: Int) async throws -> Void) {
        self.name = name
        self.run = run
    }
}

/// How often a second each competitor does its thing: the medians of rounds in which all take their turn, so that what
/// else happens on the machine meets all of them.
///
/// - Parameters:
///   - sample: the count of two runs before the rounds: one that opens connections and warms caches, one that tells how
///     many make a turn.
///   - secondsPerTurn: how long a competitor runs in a round, roughly; once at least.
func compare(
    _ competitors: [Competitor],
    sample: Int,
    rounds: Int,
    secondsPerTurn: Double
) async throws -> [(name: String, figure: Double)] {
    var counts: [Int] = []
    for competitor in competitors {
        try await competitor.run(sample)
        let time = try await seconds { try await competitor.run(sample) }
        counts.append(max(1, Int(Double(sample) / time * secondsPerTurn)))
    }
    var samples = [[Double]](repeating: [], count: competitors.count)
    for _ in 0..<rounds {
        for (index, competitor) in competitors.enumerated() {
            let time = try await seconds { try await competitor.run(counts[index]) }
            samples[index].append(Double(counts[index]) / time)
        }
    }
    return zip(competitors, samples).map { ($0.name, $1.median) }
}
