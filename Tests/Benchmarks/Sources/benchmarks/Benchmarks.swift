import Foundation

/// `benchmarks [SUITE] [--json FILE]`: http, decode, api, cpu, hooks, sessions, streamed, records, live, copies,
/// sandbox, stream, soak, tool, members or all.
///
/// Each suite is a type with a name, in a folder of its own; a new one is added to `suites` below.
@main
enum Benchmarks {
    /// The suites that the command line can name. `all` runs those that belong to a comparison, not the long ones.
    static var suites: [any Suite.Type] {
        [
            HTTPSuite.self, DecodeSuite.self, APISuite.self, ProcessorSuite.self, HooksSuite.self, SessionsSuite.self,
            StreamedRecordsSuite.self, RecordsSuite.self, LiveSuite.self, CopiesSuite.self, SandboxSuite.self,
            StreamSuite.self, SoakSuite.self, ToolSuite.self, MembersSuite.self,
        ]
    }

    static func main() async throws {
        if try await ServerProcess.serve(CommandLine.arguments.dropFirst()) { return }
        if try await FleetServer.serve(CommandLine.arguments.dropFirst()) { return }
        if try await RecordHolder.serve(CommandLine.arguments.dropFirst()) { return }
        if try await MemberProcess.serve(CommandLine.arguments.dropFirst()) { return }
        let options: Options
        do {
            options = try Options(CommandLine.arguments.dropFirst())
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(64)
        }
        var report = Report()
        for suite in options.suites {
            try await suite.run(&report, options)
            fflush(nil)
        }
        if let file = options.jsonFile { try report.json().write(to: URL(fileURLWithPath: file)) }
    }
}

protocol Suite {
    static var name: String { get }
    /// Whether `all` includes this suite.
    static var isPartOfAll: Bool { get }
    /// Measures, prints, and puts its figures into the report.
    static func run(_ report: inout Report, _ options: Options) async throws
}

extension Suite {
    static var isPartOfAll: Bool { true }
}

struct Options {
    var suites: [any Suite.Type] = []
    var jsonFile: String?
    var rounds = 5
    /// Measure this contestant only, for a profiler.
    var only: String?
    /// Measure this case only: `16`, `body12MB`, `record`, `wide`, `wide.100`.
    var onlyCase: String?

    struct Mistake: Error, CustomStringConvertible {
        var description: String
    }

    init(_ arguments: some Sequence<String>) throws {
        var arguments = Array(arguments)[...]
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json":
                guard let file = arguments.popFirst() else { throw Mistake(description: "--json wants a file") }
                jsonFile = file
            case "--rounds":
                guard let count = arguments.popFirst().flatMap({ Int($0) }), count > 0 else {
                    throw Mistake(description: "--rounds wants a number")
                }
                rounds = count
            case "--only":
                guard let name = arguments.popFirst() else { throw Mistake(description: "--only wants a contestant") }
                only = name
            case "--case":
                guard let name = arguments.popFirst() else { throw Mistake(description: "--case wants a name") }
                onlyCase = name
            case "all":
                suites += Benchmarks.suites.filter { $0.isPartOfAll }
            default:
                guard let suite = Benchmarks.suites.first(where: { $0.name == argument }) else {
                    let names = Benchmarks.suites.map { $0.name } + ["all"]
                    throw Mistake(
                        description:
                            "usage: benchmarks [\(names.joined(separator: "|"))] [--rounds N] [--only NAME] [--case NAME] [--json FILE]"
                    )
                }
                suites.append(suite)
            }
        }
        if suites.isEmpty { suites = Benchmarks.suites.filter { $0.isPartOfAll } }
    }

    func measures(contestant: String) -> Bool { only == nil || only == contestant }
    func measures(_ name: String) -> Bool { onlyCase == nil || onlyCase == name }
}
