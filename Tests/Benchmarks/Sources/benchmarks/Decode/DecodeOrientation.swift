import Foundation

/// The speed of Python with the same bytes, for orientation: `json.loads` and, if it is installed, `orjson`. Both
/// return untyped objects, which is less work than a typed record.
enum DecodeOrientation {
    private static let script = """
        import sys, time
        data = open(sys.argv[1], "rb").read()
        parsers = []
        try:
            import json
            parsers.append(("json", json.loads))
            import orjson
            parsers.append(("orjson", orjson.loads))
        except ImportError:
            pass
        for name, parse in parsers:
            best, end = 1e9, time.perf_counter() + float(sys.argv[2])
            while time.perf_counter() < end:
                start = time.perf_counter()
                parse(data)
                best = min(best, time.perf_counter() - start)
            print(name, len(data) / 1e6 / best)
        """

    /// Megabytes a second by the name of the module; empty if there is no Python 3.
    static func python(_ json: Data, seconds: Double = 1) -> [(name: String, megabytesPerSecond: Double)] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("fmdata-\(UUID().uuidString).json")
        guard (try? json.write(to: file)) != nil else { return [] }
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, file.path, String(seconds)]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return [] }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let speed = Double(words[1]) else { return nil }
            return (String(words[0]), speed)
        }
    }
}
