import Foundation

// See `run`, which builds this program and starts it.

let options = CommandLine.arguments.dropFirst().filter { $0.hasPrefix("--") }
let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let calls = options.contains("--hundred") ? 100 : nil

if options.contains("--seed"), let seed = arguments.first {
    let program = Program(seed: seed, calls: calls)
    let report = Simulation.run(program, keepsTrace: true)
    print(program)
    print(report.trace.joined(separator: "\n"))
    exit(report.findings.isEmpty ? 0 : 1)
}

guard let count = arguments.first else {
    print("usage: simulate [--hundred] <number of seeds> [<first seed>] | [--hundred] --seed <seed>")
    exit(64)
}
let first = arguments.dropFirst().first ?? 1
let search = Search(first..<first + count, calls: calls, stopsAfter: 5)
for failure in search.failures { print(failure) }
print(search.figures)
exit(search.failures.isEmpty ? 0 : 1)
