import FMData
import FMSandbox
import Foundation

/// Another process of this program: a sandbox with records.
///
/// `benchmarks fleet N L` has N vessels and a response time of L milliseconds. It prints its URL, then its counters for
/// each line that it reads, and ends with its standard input. After the line `lose` it never answers the next request
/// for records. `edit N STEP` changes the notes of each record whose id is N, N + STEP …, and `delete N` deletes one,
/// as people with FileMaker do; the file logs these commits.
final class FleetServer {
    private let process: OtherProcess
    let url: String

    /// - Parameters:
    ///   - records: the number of vessels.
    ///   - latency: the response time in milliseconds.
    init(records: Int, latency: Int = 0) throws {
        process = try OtherProcess(["fleet", "\(records)", "\(latency)"])
        url = process.line()
    }

    /// Requests, logins and bytes of answers so far.
    struct Counts: Codable {
        var requests: Int
        var logins: Int
        var bytes: Int
    }

    func counts() throws -> Counts { try ask("") }

    /// Makes the server never answer the next request for records.
    func loseAnswer() throws { _ = try ask("lose") }

    /// Edits this record as people do, and each one that is a number of steps behind it, in commits of their own.
    func edit(_ id: Int, step: Int? = nil) throws { _ = try ask("edit \(id) \(step ?? .max / 2)") }

    func delete(_ id: Int) throws { _ = try ask("delete \(id)") }

    private func ask(_ question: String) throws -> Counts {
        process.tell(question)
        return try process.answer()
    }

    func stop() { process.finish() }

    func vessels(sessions: Int = 1) -> DataAPI.TypedLayout<Vessel> { Self.vessels(at: url, sessions: sessions) }

    static func vessels(at url: String, sessions: Int = 1) -> DataAPI.TypedLayout<Vessel> {
        var config = DataAPI.Config()
        config.sessions.maximumSessions = sessions
        return vessels(at: url, config)
    }

    static func vessels(at url: String, _ config: DataAPI.Config) -> DataAPI.TypedLayout<Vessel> {
        DataAPI.Server(host: url, config: config)
            .addDatabase("Fleet", credentials: Credentials(user: "bench", password: "bench"))
            .layout(Vessel.self)
    }

    /// Runs the other process. Returns whether these arguments were for it.
    static func serve(_ arguments: some Sequence<String>) async throws -> Bool {
        let arguments = Array(arguments)
        guard arguments.count == 3, arguments[0] == "fleet", let count = Int(arguments[1]),
            let latency = Int(arguments[2])
        else { return false }
        var configuration = Sandbox.Configuration()
        configuration.latency = latency > 0 ? .milliseconds(latency) : nil
        let sandbox = try await Sandbox.start([fleet(count)], configuration: configuration)
        OtherProcess.say(sandbox.url)
        while let question = readLine() {
            try carryOut(question, of: count, in: sandbox)
            let counters = sandbox.counters
            let counts = Counts(
                requests: counters.requests.values.reduce(0, +),
                logins: counters.logins,
                bytes: bytesWritten()
            )
            try OtherProcess.say(counts)
        }
        await sandbox.stop()
        return true
    }

    private static func carryOut(_ question: String, of count: Int, in sandbox: Sandbox) throws {
        let words = question.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch (words.first, numbers.count) {
        case ("lose", 0): sandbox.inject(.holdAnswer, on: .getRecords)
        case ("edit", 2):
            for id in stride(from: numbers[0], through: count, by: numbers[1]) {
                try sandbox.editRecord(id, ["Notes": "Surveyed again"], ofTable: "Vessels", inDatabase: "Fleet")
            }
        case ("delete", 1): try sandbox.deleteRecord(numbers[0], ofTable: "Vessels", inDatabase: "Fleet")
        default: break
        }
    }

    /// All bytes that this process has written: its answers, and a few lines.
    private static func bytesWritten() -> Int {
        let lines = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.first { $0.hasPrefix("wchar: ") }.flatMap { Int($0.dropFirst(7)) } ?? 0
    }

    /// The timestamp this number of minutes after the beginning of the year 2025.
    private static func timestamp(minutes: Int) -> String {
        let days = minutes / 1_440
        let (month, day) = (1 + days / 28 % 12, 1 + days % 28)
        return String(format: "%02d/%02d/2025 %02d:%02d:00", month, day, minutes / 60 % 24, minutes % 60)
    }

    private static func fleet(_ count: Int) -> Solution {
        let fields: [Solution.Field] = [
            .init("Number", .number), .init("Name"), .init("Port"), .init("Length", .number), .init("Built", .date),
            .init("Notes"), .init("Changed", .timestamp, autoEnter: .modificationTimestamp),
        ]
        let ports = ["Oslo", "Bergen", "Rome", "Naples"]
        let records = (1...max(1, count)).map { number in
            Solution.Record([
                "Number": "\(number)", "Name": "Vessel \(number)", "Port": ports[number % ports.count],
                "Length": "\(10 + number % 300).5", "Built": "0\(1 + number % 9)/15/19\(50 + number % 50)",
                "Notes": "Surveyed in dry dock, no remarks",
                "Changed": timestamp(minutes: number),
            ])
        }
        var solution = Solution(
            name: "Fleet",
            tables: [.init(name: "Vessels", fields: fields, records: count > 0 ? records : [])],
            layouts: [
                .layout(.init(name: "Vessels", table: "Vessels", fields: fields.map { .init($0.name) })),
                .layout(.init(name: "Vessels (ids)", table: "Vessels", fields: ["Changed"])),
            ],
            accounts: [.init(name: "bench", password: "bench")]
        )
        solution.addCommitLog()
        return solution
    }
}

/// A record of the fleet.
struct Vessel: LayoutRecord {
    static let layout = "Vessels"

    var number: Int
    var name: String
    var port: String
    var length: Double
    var notes: String

    enum CodingKeys: String, CodingKey {
        case number = "Number"
        case name = "Name"
        case port = "Port"
        case length = "Length"
        case notes = "Notes"
    }
}
