import FMData
import Foundation
import OpenCombine

/// This program once more, as one that holds all vessels of a server: what has been in memory before does not count.
///
/// `benchmarks hold WAY URL` prints by how many bytes its memory has grown.
enum RecordHolder {
    enum Way: String, CaseIterable {
        case live, array
    }

    static func bytes(_ way: Way, at url: String) throws -> Double {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["hold", way.rawValue, url]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard let bytes = Double(text) else { throw NoFigure() }
        return bytes
    }

    struct NoFigure: Error {}

    /// The other process: whether these arguments were for it.
    static func serve(_ arguments: some Sequence<String>) async throws -> Bool {
        let arguments = Array(arguments)
        guard arguments.count == 3, arguments[0] == "hold", let way = Way(rawValue: arguments[1]) else { return false }
        let vessels = FleetServer.vessels(at: arguments[2])
        // What any call takes once does not count.
        _ = try await vessels.count().firstValue()
        let before = processFootprint().memory
        switch way {
        case .array:
            let records = try await vessels.all().collect().firstValue()
            say(processFootprint().memory - before)
            withExtendedLifetime(records) {}
        case .live:
            let query = vessels.live(DataAPI.LiveOptions(watch: .reread, maximumRecords: 1_000_000))
            let arrivals = Arrivals()
            let subscription = query.sink(receiveCompletion: { _ in }, receiveValue: { _ in arrivals.arrived() })
            await arrivals.untilCount(1)
            await query.untilAtRest()
            say(processFootprint().memory - before)
            subscription.cancel()
        }
        return true
    }

    private static func say(_ bytes: Int) { FileHandle.standardOutput.write(Data("\(bytes)".utf8)) }
}
