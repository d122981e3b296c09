// What it shows: a nightly job. A process writes all records into a file, is killed in the middle and started again.
// Another edits 5,000 of them, writes them back, is killed as well, and reports the rejected ones with their reasons.
// How to run it: `swift run nightly`, against the embedded server; Host.swift says how a real one is named.
// What to look at: Export.swift and Import.swift. The journal makes the second run go on where the first was killed.
// Below are only the processes: `nightly export FILE` and `nightly import FILE`, which `nightly` starts and kills.
import FMData
import FMSandbox
import Foundation

@main
struct Nightly {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "export" {
            return try await export(to: URL(fileURLWithPath: arguments[2]))
        }
        if arguments.count == 3, arguments[1] == "import" {
            return try await importEdited(lines(of: URL(fileURLWithPath: arguments[2])), from: arguments[2])
        }
        let host = try await Host.fromEnvironment()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("vessels-\(UUID().uuidString).ndjson")
        defer { try? FileManager.default.removeItem(at: file) }

        try run("export", file, of: host, killedAfter: 7_000)
        try run("export", file, of: host)
        try check(file)
        if host.sandbox != nil {
            try run("import", file, of: host, killedAfter: 2_000)
            try run("import", file, of: host)
            try? FileManager.default.removeItem(at: journal(beside: file.path))
        }
        if let sandbox = host.sandbox {
            // A killed process does not log out: its session ends 15 minutes later.
            print("Sessions left on the server: \(sandbox.counters.openSessions)")
            await sandbox.stop()
        }
    }

    /// Exports all vessels. Runs in the process that is killed.
    private static func export(to file: URL) async throws {
        let host = try await Host.fromEnvironment()
        let vessels = try host.vessels()
        try await Export(vessels: vessels, file: file).run()
        _ = await vessels.layout.database.server.shutdown().awaitSingleResult()
    }

    /// Starts another process, prints its output, and, if asked, kills it when it reports this progress.
    private static func run(_ work: String, _ file: URL, of host: Host, killedAfter limit: Int = .max) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [work, file.path]
        process.environment = host.environment
        process.standardOutput = output
        try process.run()
        var isKilled = false
        for line in output.fileHandleForReading.lines {
            print("  \(line)")
            if !isKilled, let done = line.split(separator: " ").first.flatMap({ Int($0) }), done > limit {
                kill(process.processIdentifier, SIGKILL)
                isKilled = true
            }
        }
        process.waitUntilExit()
        print("\(work): " + (isKilled ? "killed" : "ended with status \(process.terminationStatus)"))
    }

    /// Reads the file back, to check for gaps and repetitions.
    private static func check(_ file: URL) throws {
        let lines = try lines(of: file)
        let numbers = lines.map(\.vessel.number)
        let isInOrder = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        print("\(lines.count) lines, \(Set(numbers).count) vessels, \(isInOrder ? "in order" : "out of order")")
    }

    private static func lines(of file: URL) throws -> [Export.Line] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(Export.Line.self, from: Data($0.utf8))
        }
    }

    private static func journal(beside path: String) -> URL { URL(fileURLWithPath: path + ".journal") }

    /// Adds a metre to the length of every vessel; some edits have mistakes. Runs in the process that is killed.
    ///
    /// Each edit has the modId that the export has read, so that it does not overwrite changes of others, and so that
    /// an edit whose answer is lost can be distinguished from one that never arrived. The journal is beside the file,
    /// so that the next process continues where this one was killed.
    private static func importEdited(_ lines: [Export.Line], from path: String) async throws {
        let host = try await Host.fromEnvironment()
        let rows = lines.prefix(5_000).enumerated().map { index, line in
            let fields: FieldData =
                switch index % 500 {
                case 7: ["Name": ""]
                case 8: ["Length": 9_999]
                default: ["Length": FieldValue(line.vessel.length + 1)]
                }
            return Import.Row(
                number: line.vessel.number,
                edit: .edit(line.recordId, setting: fields, modId: line.modId)
            )
        }
        var config = DataAPI.Config()
        config.sessions.maximumSessions = 4
        let vessels = try host.vessels(config)
        let importing = Import(vessels: vessels, rows: rows, journal: journal(beside: path))
        let summary = try await importing.run()
        print("imported: \(summary), \(summary.journalCount > 0 ? "in several runs" : "in one run")")
        _ = await vessels.layout.database.server.shutdown().awaitSingleResult()
    }
}

extension FileHandle {
    /// The lines of a pipe, as they arrive.
    fileprivate var lines: AnySequence<String> {
        AnySequence { () -> AnyIterator<String> in
            var rest = Data()
            return AnyIterator {
                while true {
                    if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        defer { rest = Data(rest[(end + 1)...]) }
                        return String(decoding: rest[..<end], as: UTF8.self)
                    }
                    let more = self.availableData
                    if more.isEmpty { return nil }
                    rest += more
                }
            }
        }
    }
}
