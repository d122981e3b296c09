import NIOCore

/// Runs the programs of many seeds, and shrinks those that fail.
struct Search {
    private(set) var failures: [Failure] = []
    private(set) var programs = 0
    private(set) var calls = 0
    private var simulated = TimeAmount.zero
    private var real = Duration.zero

    /// - Parameter calls: the number of calls of each program; by default that of its seed.
    init(_ seeds: some Sequence<UInt64>, _ work: Work = .calls, calls: Int? = nil, stopsAfter limit: Int) {
        let clock = ContinuousClock()
        for seed in seeds {
            let start = clock.now
            let program = Program(seed: seed, work, calls: calls)
            let report = Simulation.run(program)
            real += clock.now - start
            programs += 1
            self.calls += report.calls
            simulated = simulated + report.simulated
            guard let kind = report.kind else { continue }
            failures.append(Failure(program: Shrinker(program, kind: kind).smallest, findings: report.findings))
            if failures.count == limit { return }
        }
    }

    /// The speed of the search.
    var figures: String {
        let seconds = max(0.001, real / .seconds(1))
        let hours = Double(simulated.nanoseconds) / 3_600_000_000_000
        func rounded(_ value: Double) -> String { String(Int(value.rounded())) }
        return """
            \(programs) programs, \(calls) calls: \(rounded(Double(programs) / seconds)) programs and \
            \(rounded(Double(calls) / seconds)) calls a second, \(rounded(hours / seconds)) simulated hours a second
            """
    }
}

/// A failed program, shrunk.
struct Failure: CustomStringConvertible {
    let program: Program
    /// The findings of the whole program.
    let findings: [String]

    var description: String {
        // A logger does not change the program, and makes the trace more detailed.
        var told = program
        told.client.logs = true
        let report = Simulation.run(told, keepsTrace: true)
        return """
            seed \(program.seed), \(program.work):
            \(findings.prefix(5).map { "  \($0)" }.joined(separator: "\n"))
            cut down:
            \(report.findings.prefix(5).map { "  \($0)" }.joined(separator: "\n"))
            \(program)
            \(report.trace.joined(separator: "\n"))
            """
    }
}

extension Simulation.Report {
    /// The kind of the first finding: its text without numbers. `nil` if there is none.
    var kind: String? {
        findings.first.map { finding in String(finding.prefix(80).filter { !$0.isNumber }) }
    }
}

/// Removes everything from a program that its finding does not need: halves, quarters, single steps and faults, and
/// then it replaces every setting by its simplest value ([Zeller and Hildebrandt,
/// 2002](https://doi.org/10.1109/32.988498)).
struct Shrinker {
    private(set) var smallest: Program
    private let kind: String
    private var attempts = 0

    init(_ program: Program, kind: String, attempts limit: Int = 2000) {
        smallest = program
        self.kind = kind
        attempts = limit
        cut(\.steps)
        cut(\.faults)
        simplify()
        cut(\.steps)
    }

    private mutating func cut<Element>(_ part: WritableKeyPath<Program, [Element]>) {
        var length = smallest[keyPath: part].count
        while length >= 1 {
            var start = 0
            while start < smallest[keyPath: part].count {
                var candidate = smallest
                let end = min(start + length, candidate[keyPath: part].count)
                candidate[keyPath: part].removeSubrange(start..<end)
                if !take(candidate) { start += length }
            }
            length /= 2
        }
    }

    private mutating func simplify() {
        for index in smallest.steps.indices {
            attempt { $0.steps[index].inside = nil }
            attempt { $0.steps[index].cancel = nil }
            attempt { $0.steps[index].demand = .unlimited }
        }
        attempt { $0.weather.tearsApart = false }
        attempt { $0.weather.capacity = 256 * 1024 }
        attempt { $0.weather.latency = 0...0 }
        attempt { $0.client.loops = 1 }
        attempt { $0.client.total = nil }
        attempt { $0.client.firstByte = 120 }
        for index in smallest.hosts.indices {
            attempt { $0.hosts[index].latency = nil }
            attempt { $0.hosts[index].compresses = false }
            attempt { $0.hosts[index].keepAlive = 5000 }
            attempt { $0.hosts[index].requestsPerConnection = nil }
        }
    }

    private mutating func attempt(_ change: (inout Program) -> Void) {
        var candidate = smallest
        change(&candidate)
        if candidate != smallest { _ = take(candidate) }
    }

    /// Keeps the candidate if it has the same finding.
    private mutating func take(_ candidate: Program) -> Bool {
        guard attempts > 0 else { return false }
        attempts -= 1
        guard Simulation.run(candidate).kind == kind else { return false }
        smallest = candidate
        return true
    }
}
