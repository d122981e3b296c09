import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// A ship of the file that live queries are tested with.
struct Ship: LayoutRecord, Equatable {
    static let layout = "Ships"

    var name: String
    var port: String

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case port = "Port"
    }
}

/// A file with ships. One client watches it, and its clock stands still; another client changes it.
struct Harbour: Sendable {
    typealias Values = TrackingSubscriber<DataAPI.LiveValue<Ship>, FMRest.APIError>

    let sandbox: Sandbox
    let clock: ManualClock
    let time: TestClock
    /// The database of the watching client.
    let database: DataAPI.Database
    /// The layout of the other client.
    let others: DataAPI.TypedLayout<Ship>

    var ships: DataAPI.TypedLayout<Ship> { database.layout(Ship.self) }
    var inOslo: DataAPI.FoundSet<Ship> { ships.find { $0(.port) == "Oslo" } }

    /// - Parameter names: the names of the ships, which are all in Oslo.
    static func run(
        _ names: [String] = ["Ask", "Embla", "Fram"],
        client configure: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (Harbour) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        try await Hosted.run(solution(names), sandbox: { $0.clock = clock }) { others, sandbox in
            var config = DataAPI.Config.patient
            configure(&config)
            let time = TestClock()
            let server = DataAPI.Server(host: sandbox.url, config: config, clock: time)
            let database = server.addDatabase("Harbour", credentials: Credentials(user: "admin", password: ""))
            let harbour = Harbour(
                sandbox: sandbox,
                clock: clock,
                time: time,
                database: database,
                others: others.layout(Ship.self)
            )
            try await body(harbour)
            _ = await database.logOut().awaitSingleResult()
        }
    }

    private static func solution(_ names: [String]) -> Solution {
        let fields: [Solution.Field] = [
            .init("Name"), .init("Port"), .init("Changed", .timestamp, autoEnter: .modificationTimestamp),
            .init("Written", .timestamp), .init("Cargo", .number, calculation: "Sum ( Crates::Weight )"),
        ]
        var solution = Solution(
            name: "Harbour",
            tables: [
                .init(
                    name: "Ships",
                    fields: fields,
                    records: names.map { .init(["Name": $0, "Port": "Oslo"]) }
                ),
                .init(name: "Crates", fields: [.init("Ship"), .init("Weight", .number)]),
            ],
            relationships: [.init("Ships", "Crates", matches: [.init("Name", "Ship")])],
            layouts: [
                .layout(.init(name: "Ships", table: "Ships", fields: fields.map { .init($0.name) })),
                .layout(.init(name: "Ships (ids)", table: "Ships", fields: ["Name", "Changed", "Written"])),
                .layout(.init(name: "Crates", table: "Crates", fields: ["Ship", "Weight"])),
            ],
            accounts: [.init(name: "admin", password: "")]
        )
        solution.addCommitLog()
        // The result that the file would get from ExecuteSQL.
        solution.addScript("Versions") { context in
            try context.find([["Port": "==Oslo"]])
            return .result("[\(context.foundSet.map { "[\($0), 0]" }.joined(separator: ", "))]")
        }
        solution.addScript("no JSON") { _ in .result("all of them") }
        return solution
    }

    /// Returns when no live query is kept any more. A query without subscribers is kept for its grace period. The
    /// thread that has delivered the last value sets the alarm for that, perhaps after the test has advanced the clock.
    func untilNothingIsHeld() async {
        await until {
            time.advance(by: .seconds(11))
            return database.liveRegistry.observers.isEmpty
        }
    }

    // MARK: Changes by the other client

    func insert(_ name: String, port: String = "Oslo") async throws -> Int {
        try await others.create(Ship(name: name, port: port)).firstValue().recordId
    }

    func edit(_ id: Int, _ fields: FieldData) async throws {
        _ = try await others.edit(id, setting: fields).firstValue()
    }

    func delete(_ id: Int) async throws {
        _ = try await others.delete(id).firstValue()
    }

    // MARK: Polls

    /// The requests for records by the watching client, which make up its polls.
    var requests: Int {
        let counts = sandbox.counters.requests
        return counts[.getRecords, default: 0] + counts[.find, default: 0]
    }

    /// Lets time pass until the next poll, and waits until it has ended.
    ///
    /// - Parameter query: the query whose status is followed.
    func poll(_ query: DataAPI.LiveQuery<some RecordFields>) async {
        let before = requests
        time.advance(by: query.timeToNextLook(at: time.date))
        await until { requests > before && query.isAtRest }
    }

    /// Lets time pass until the next poll, if one is waited for. While a poll is under way no time passes, however slow
    /// the machine is: else the poll would reach its time limit, and a failure would seem to last.
    func passTimeToNextPoll(of query: some StatusTelling) {
        let status = query.statusNow
        guard [.waiting, .failing].contains(status.kind), let until = status.until, until > time.date else { return }
        time.advance(by: .microseconds(Int64(until.timeIntervalSince(time.date) * 1_000_000) + 2))
    }

    /// Polls now, and waits until the poll has ended.
    func refresh(_ query: DataAPI.LiveQuery<Ship>) async {
        let before = requests
        query.refresh()
        await until { requests > before && query.isAtRest }
    }

    /// Subscribes and waits for the first value.
    func watch(_ query: DataAPI.LiveQuery<Ship>) async -> Values {
        let values = Values()
        query.subscribe(values)
        await values.valueCount(atLeast: 1)
        await until { query.isAtRest }
        return values
    }
}

extension DataAPI.LiveValue {
    var ids: [Int] { records.map(\.recordId) }
}
