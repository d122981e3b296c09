import FMData
import Foundation
import OpenCombine

/// `fmdata` as whole processes: the export of 100,000 records compared to `all()`, the import of 20,000 rows compared
/// to a batch with a journal, and the time to the first byte of `layouts` with a kept session.
///
/// Figures: `tool.export.<per_second|all_per_second|ratio|peak_bytes>`,
/// `tool.import.<per_second|batch_per_second|ratio>`, `tool.layouts.first_byte_s`. `FMDATA_PROGRAM` names the
/// program, which is built by `swift build -c release --product fmdata`; the server is a process of its own.
enum ToolSuite: Suite {
    static let name = "tool"
    // It needs a program that is built elsewhere.
    static let isPartOfAll = false

    private static let recordCount = 100_000
    private static let rowCount = 20_000

    struct NoProgram: Error, CustomStringConvertible {
        let description = "FMDATA_PROGRAM has to name the program fmdata, built with -c release."
    }

    static func run(_ report: inout Report, _ options: Options) async throws {
        guard let path = ProcessInfo.processInfo.environment["FMDATA_PROGRAM"] else { throw NoProgram() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("benchmarks-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tool = Tool(path: path, home: folder)
        if options.measures("layouts") { try layouts(&report, options, tool) }
        if options.measures("export") { try await exports(&report, options, tool) }
        if options.measures("import") { try await imports(&report, options, tool) }
    }

    /// The program, with a user whose files are in a folder.
    private struct Tool {
        let path: String
        let home: URL

        func process(_ arguments: [String], at url: String) -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = arguments
            process.environment = [
                "HOME": home.path, "FM_HOST": url, "FM_DATABASE": "Fleet", "FM_USER": "bench", "FM_PASSWORD": "bench",
                "FMDATA_NO_PROMPT": "1",
            ]
            process.standardOutput = FileHandle.nullDevice
            return process
        }

        /// Runs the program. Throws if it fails.
        func run(_ arguments: String..., at url: String) throws {
            let process = process(arguments, at: url)
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw Failed(status: process.terminationStatus) }
        }

        func file(_ name: String) -> URL { home.appendingPathComponent(name) }
    }

    private struct Failed: Error { var status: Int32 }

    // MARK: Export

    private static func exports(_ report: inout Report, _ options: Options, _ tool: Tool) async throws {
        let server = try FleetServer(records: recordCount)
        let vessels = server.vessels()
        _ = try await vessels.count().firstValue()
        var (exported, all): ([Double], [Double]) = ([], [])
        for _ in 0..<options.rounds {
            let time = try await seconds {
                try tool.run("export", "Vessels", "-o", tool.file("vessels.csv").path, "--force", at: server.url)
            }
            exported.append(Double(recordCount) / time)
            let read = try await seconds {
                _ = try await vessels.all().reduce(0) { count, _ in count + 1 }.firstValue()
            }
            all.append(Double(recordCount) / read)
        }
        // The greatest of the programs that have ended: those that export.
        let peak = childrensPeakBytes()
        server.stop()
        let ratio = zip(exported, all).map { $0 / $1 }.median
        report["tool.export.per_second"] = exported.median
        report["tool.export.all_per_second"] = all.median
        report["tool.export.ratio"] = ratio
        report["tool.export.peak_bytes"] = peak
        print(
            """

            export to CSV: \(Int(exported.median)) records a second, \(Int(all.median)) by all() \
            (\(String(format: "%.2f", ratio)) x), \(String(format: "%.1f", peak / 1e6)) MB at the peak
            """
        )
    }

    /// The peak memory of the children that have ended.
    private static func childrensPeakBytes() -> Double {
        var usage = rusage()
        // The value of RUSAGE_CHILDREN, whose type differs between platforms.
        getrusage(-1, &usage)
        return Double(usage.ru_maxrss) * 1024
    }

    // MARK: Import

    private static func imports(_ report: inout Report, _ options: Options, _ tool: Tool) async throws {
        let rows = (1...rowCount).map {
            Vessel(number: $0, name: "Vessel \($0)", port: "Oslo", length: 12, notes: "")
        }
        let text = rows.map { "\($0.number),\($0.name),\($0.port),\($0.length)\n" }.joined()
        try Data(("Number,Name,Port,Length\n" + text).utf8).write(to: tool.file("rows.csv"))
        var (imported, batched): ([Double], [Double]) = ([], [])
        for _ in 0..<min(3, options.rounds) {
            let server = try FleetServer(records: 0)
            let time = try await seconds {
                try tool.run("import", "Vessels", tool.file("rows.csv").path, at: server.url)
            }
            imported.append(Double(rowCount) / time)
            server.stop()
            let other = try FleetServer(records: 0)
            let journal = tool.file("\(UUID()).journal")
            let batch = try await seconds {
                _ = try await other.vessels().writing(rows.map { .create($0) }, journal: .file(journal)).summary
                    .firstValue()
            }
            batched.append(Double(rowCount) / batch)
            other.stop()
        }
        let ratio = zip(imported, batched).map { $0 / $1 }.median
        report["tool.import.per_second"] = imported.median
        report["tool.import.batch_per_second"] = batched.median
        report["tool.import.ratio"] = ratio
        print(
            """

            import from CSV: \(Int(imported.median)) rows a second, \(Int(batched.median)) by a batch with a journal \
            (\(String(format: "%.2f", ratio)) x)
            """
        )
    }

    // MARK: Layouts

    private static func layouts(_ report: inout Report, _ options: Options, _ tool: Tool) throws {
        let server = try FleetServer(records: 1)
        try tool.run("login", "fleet", at: server.url)
        var times: [Double] = []
        for _ in 0..<(4 * options.rounds) {
            let process = tool.process(["layouts", "--profile", "fleet"], at: server.url)
            let output = Pipe()
            process.standardOutput = output
            let begun = ContinuousClock.now
            try process.run()
            _ = try output.fileHandleForReading.read(upToCount: 1)
            times.append((ContinuousClock.now - begun) / .seconds(1))
            _ = try output.fileHandleForReading.readToEnd()
            process.waitUntilExit()
        }
        server.stop()
        report["tool.layouts.first_byte_s"] = times.median
        print("\nlayouts with a kept session: \(String(format: "%.0f", times.median * 1000)) ms to the first byte")
    }
}
