import FMData
import Foundation
import OpenCombine

/// Another process of this program that holds all vessels of a server, so that earlier memory does not count.
///
/// `benchmarks hold WAY URL` prints by how many bytes its memory has grown, and how many of them are allocated.
enum RecordHolder {
    enum Way: String {
        case live, array
        /// Follows the changes of a copy that is kept elsewhere.
        case copy
    }

    static func bytes(_ way: Way, at url: String) throws -> (resident: Double, held: Double) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["hold", way.rawValue, url]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        let figures = text.split(separator: " ").compactMap { Double($0) }
        guard figures.count == 2 else { throw NoFigure() }
        return (figures[0], figures[1])
    }

    struct NoFigure: Error {}

    /// Runs the other process. Returns whether these arguments were for it.
    static func serve(_ arguments: some Sequence<String>) async throws -> Bool {
        let arguments = Array(arguments)
        guard arguments.count == 3, arguments[0] == "hold", let way = Way(rawValue: arguments[1]) else { return false }
        let vessels = FleetServer.vessels(at: arguments[2])
        // A first call, so that one-time costs do not count.
        _ = try await vessels.count().firstValue()
        let before = (resident: processFootprint().memory, held: try allocatedBytes())
        switch way {
        case .array:
            let records = try await vessels.all().collect().firstValue()
            try say(since: before)
            withExtendedLifetime(records) {}
        case .live:
            let query = vessels.live(DataAPI.LiveOptions(watch: .reread, maximumRecords: 1_000_000))
            let history = PollHistory(query)
            let subscription = query.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            await history.untilEnded(1)
            // The code that delivered the records may still reference them.
            try await Task.sleep(for: .seconds(1))
            try say(since: before)
            subscription.cancel()
        case .copy:
            let history = Arrivals()
            let keeper = DataAPI.CopyKeeper(
                mark: { done in done(.success(nil)) },
                versions: { _, _, done in done(.success([])) }
            )
            let subscription = vessels.changes(keptBy: keeper).sink(
                receiveCompletion: { _ in },
                receiveValue: { if case .polled = $0 { history.arrived() } }
            )
            await history.untilCount(1)
            try await Task.sleep(for: .seconds(1))
            try say(since: before)
            subscription.cancel()
        }
        return true
    }

    private static func say(since before: (resident: Int, held: Int)) throws {
        let held = try allocatedBytes() - before.held
        let resident = processFootprint().memory - before.resident
        FileHandle.standardOutput.write(Data("\(resident) \(held)".utf8))
    }
}
