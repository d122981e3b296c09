import Foundation

// `run` builds and starts this program.

let options = CommandLine.arguments.dropFirst().filter { $0.hasPrefix("--") }
let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let calls = options.contains("--hundred") ? 100 : nil
let work = Work.allCases.first { options.contains("--\($0)") } ?? .calls

if options.contains("--seed"), let seed = arguments.first {
    let program = Program(seed: seed, work, calls: calls)
    let report = Simulation.run(program, keepsTrace: true)
    print(program)
    print(report.trace.joined(separator: "\n"))
    exit(report.findings.isEmpty ? 0 : 1)
}

if options.contains("--known") {
    let failures = RegressionSeeds.all.flatMap { Search($0.seeds, $0.work, stopsAfter: 1).failures }
    for failure in failures { print(failure) }
    print("\(RegressionSeeds.all.map(\.seeds.count).reduce(0, +)) programs, \(failures.count) failed")
    exit(failures.isEmpty ? 0 : 1)
}

guard let count = arguments.first else {
    print(
        """
        usage: simulate [KIND] [--hundred | --until-found] <number of seeds> [<first seed>]
               simulate [KIND] [--hundred] --seed <seed>
               simulate --known
        KIND: --records, --live, --accounts, --journals, --copies, --restores or --fleets
        """
    )
    exit(64)
}
let first = arguments.dropFirst().first ?? 1

if options.contains("--until-found") {
    for seed in first..<first + count {
        guard let kind = Simulation.run(Program(seed: seed, work)).findings.first else { continue }
        print("seed \(seed): \(kind)")
        exit(1)
    }
    print("nothing in \(count) seeds")
    exit(0)
}

let search = Search(first..<first + count, work, calls: calls, stopsAfter: 5)
for failure in search.failures { print(failure) }
print(search.figures)
exit(search.failures.isEmpty ? 0 : 1)
