import FMTestSupport

#if os(Linux)
import CustomDump
import FMSandbox
import Foundation
import OpenCombine
import Testing

import FMData
@testable import FMDataCore

/// Programs that write rows with a journal and are killed at any moment. Each program is another run of this test
/// program. The program that resumes has the journal and the rows, and nothing else.
///
/// `FMDATA_KILLS=200` kills that many programs of each kind; by default it is a few.
@Suite(.timeLimit(.minutes(60)), .serialized) struct JournalKillTests {
    private static let variable = "FMDATA_JOURNAL_OF_ANOTHER_PROCESS"
    private static let kills =
        ProcessInfo.processInfo.environment["FMDATA_KILLS"].flatMap { Int($0) } ?? 6

    /// The task of the other process.
    private struct Errand: Codable {
        var kind: Kind
        var url: String
        var journal: String
    }

    enum Kind: String, CaseIterable, Codable {
        case create, createWithOwnKey, createWithoutKey, edit, editWithoutModId, save, delete, upsert, upsertAgain,
            commit

        /// The number of records before the run.
        var recordCount: Int {
            switch self {
            case .create, .createWithOwnKey, .createWithoutKey, .upsertAgain, .commit: 0
            case .edit, .editWithoutModId, .save, .delete: rowCount
            // Half of the records exist.
            case .upsert: rowCount / 2
            }
        }

        fileprivate func writes() -> [DataAPI.RecordWrite<Member>] {
            (1...rowCount).map { number in
                switch self {
                case .create, .createWithoutKey: .create(Member(name: "New \(number)"))
                case .createWithOwnKey, .commit: .create(Member(name: "New \(number)", uuid: "u\(number)"))
                case .edit: .edit(number, setting: ["City": "Bath"], modId: 0)
                case .editWithoutModId: .edit(number, setting: ["City": "Bath"])
                case .save: .save(Self.draft(of: number))
                case .delete: .delete(number)
                case .upsert: .upsert(Member(name: "New \(number)", uuid: "u\(number)"), by: .uuid)
                // Each key comes three times, and the last row's values must stay.
                case .upsertAgain: .upsert(Member(name: "New \(number)", uuid: "u\(number % keyCount)"), by: .uuid)
                }
            }
        }

        private static func draft(of number: Int) -> DataAPI.Draft<Member> {
            let read = DataAPI.TypedLayout<Member>.Record(
                fieldData: Member(name: "Old \(number)", city: nil, uuid: "u\(number)"),
                portalData: nil,
                recordId: number,
                modId: 0,
                portalDataInfo: nil
            )
            var draft = read.draft()
            draft.city = "Bath"
            return draft
        }

        /// Whether nothing shows what happened to a row whose answer was lost.
        fileprivate var leavesRowsUnknown: Bool {
            [.createWithoutKey, .editWithoutModId, .edit, .save].contains(self)
        }

        func batch(in database: DataAPI.Database, journal: DataAPI.WriteJournal) -> DataAPI.Batch {
            let people = database.layout(Member.self)
            if self == .commit {
                return people.writing(
                    writes(),
                    committing: DataAPI.CommitScript("Run Job", in: database.addLayout("Jobs")),
                    journal: journal,
                    options: DataAPI.CommitOptions(
                        rowsPerCommit: 7,
                        retryTimeout: .seconds(60),
                        settlingTime: .seconds(1)
                    ),
                    isolation: nil
                )
            }
            let options = DataAPI.BatchOptions(
                concurrency: 4,
                idempotencyKey: self == .createWithoutKey ? nil : "UUID",
                retryTimeout: .seconds(60),
                settlingTime: .seconds(1)
            )
            return people.writing(writes(), journal: journal, options: options, isolation: nil)
        }
    }

    @Test(.thorough, arguments: Kind.allCases, [false, true])
    func killedAndResumed(kind: Kind, withFaults: Bool) async throws {
        var random = SeededRandom(seed: UInt64(kind.recordCount) + (withFaults ? 1_000 : 0))
        var killed = 0
        // Limited, in case the programs always finish before they are killed.
        for _ in 0..<Self.kills * 10 where killed < Self.kills && !Task.isCancelled {
            killed += try await job(kind, withFaults: withFaults, upTo: Self.kills - killed, &random)
        }
        expectNoDifference(killed, Self.kills)
    }

    /// Writes one input by several programs, some of which are killed.
    ///
    /// - Returns: the number of killed programs.
    private func job(_ kind: Kind, withFaults: Bool, upTo most: Int, _ random: inout SeededRandom) async throws -> Int {
        var solution = Solution.people(count: kind.recordCount)
        solution.addJobs()
        var killed = 0
        var configuration = Sandbox.Configuration.patient
        configuration.maximumSessions = 100
        let sandbox = try await Sandbox.start([solution], configuration: configuration)
        let result: Result<Void, any Error>
        do {
            try await withTemporaryFolder { folder in
                let path = folder.path + "/writes.journal"
                let target = min(most, Int.random(in: 1...3, using: &random))
                while killed < target {
                    if withFaults { Self.injectFaults(sandbox, &random) }
                    let before = sandbox.counters.totalRequests
                    let limit = before + Int.random(in: 1...(kind == .commit ? 12 : 45), using: &random)
                    let child = try Self.start(Errand(kind: kind, url: sandbox.url, journal: path))
                    await until { sandbox.counters.totalRequests >= limit || !child.isRunning }
                    kill(child.id, SIGKILL)
                    let status = child.waitUntilExit()
                    sandbox.clearFaults()
                    // A program that has finished cannot be killed any more.
                    guard status == 128 + SIGKILL else {
                        expectNoDifference(status, 0)
                        break
                    }
                    killed += 1
                }
                var config = DataAPI.Config.patient
                config.sessions.maximumSessions = 5
                let server = DataAPI.Server(host: sandbox.url, config: config)
                let database = server.addDatabase("Single", credentials: .init(user: "admin", password: ""))
                let rows = try await kind.batch(in: database, journal: .file(URL(fileURLWithPath: path)))
                    .outcome().get().sorted { $0.index < $1.index }
                Self.check(rows, kind, sandbox)
                _ = try await server.shutdown().firstValue()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await sandbox.stop()
        try result.get()
        return killed
    }

    /// Injects lost answers, and delays that let requests arrive after their sender was killed.
    private static func injectFaults(_ sandbox: Sandbox, _ random: inout SeededRandom) {
        for endpoint in [Sandbox.Endpoint.createRecord, .editRecord, .deleteRecord, .find] {
            for _ in 0..<3 {
                let fault: Sandbox.Fault =
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: .resetAfterExecution
                    case 1: .reset
                    case 2: .delay(.milliseconds(300))
                    default: .html(status: 502)
                    }
                sandbox.inject(fault, on: endpoint, skipping: Int.random(in: 0...20, using: &random), count: 1)
            }
        }
    }

    private static func check(_ rows: [DataAPI.BatchRow], _ kind: Kind, _ sandbox: Sandbox) {
        expectNoDifference(rows.map(\.index), Array(0..<rowCount), "\(kind)")
        for row in rows where !row.isDone && !(kind.leavesRowsUnknown && row.result.kind == .unknown) {
            Issue.record("\(kind): \(row)")
        }
        let people = sandbox.people
        let names = people.compactMap { $0.values["Name"] }.sorted()
        let new = (1...rowCount).map { "New \($0)" }.sorted()
        let byId = Dictionary(people.map { ($0.recordId ?? 0, $0) }) { first, _ in first }
        for row in rows where row.isDone && kind != .delete {
            // The record that a row reports to have made or changed must be the one with the row's values.
            guard let record = row.recordId.flatMap({ byId[$0] }) else {
                Issue.record("\(kind): there is no record of \(row)")
                continue
            }
            switch kind {
            case .create, .createWithOwnKey, .createWithoutKey, .upsert, .commit:
                expectNoDifference(record.values["Name"], "New \(row.index + 1)", "\(kind)")
            case .upsertAgain:
                expectNoDifference(record.values["UUID"], "u\((row.index + 1) % keyCount)", "\(kind)")
            case .edit, .editWithoutModId, .save:
                expectNoDifference(record.recordId, row.index + 1, "\(kind)")
                expectNoDifference(record.values["City"], "Bath", "\(kind)")
            case .delete: break
            }
        }
        switch kind {
        case .create, .createWithOwnKey, .upsert, .commit: expectNoDifference(names, new, "\(kind)")
        // No record is there twice; a missing one was reported as unknown.
        case .createWithoutKey:
            expectNoDifference(Set(names).count, names.count, "\(kind)")
            let done = Set(rows.filter(\.isDone).map { "New \($0.index + 1)" })
            expectNoDifference(done.subtracting(names), [], "\(kind)")
        case .upsertAgain:
            expectNoDifference(names, (rowCount - keyCount + 1...rowCount).map { "New \($0)" }.sorted(), "\(kind)")
        case .edit, .save:
            expectNoDifference(people.map(\.modId), Array(repeating: 1, count: rowCount), "\(kind)")
        case .editWithoutModId: expectNoDifference(people.filter { $0.modId > 1 }.map(\.recordId), [], "\(kind)")
        case .delete: expectNoDifference(names, [])
        }
        let ids = rows.filter(\.isDone).compactMap(\.recordId)
        switch kind {
        case .delete: break
        case .upsertAgain: expectNoDifference(Set(ids).count, keyCount, "\(kind)")
        default: expectNoDifference(Set(ids).count, ids.count, "\(kind)")
        }
    }

    // MARK: The other process

    @Test(.enabled(if: ProcessInfo.processInfo.environment[variable] != nil))
    func theOtherProcess() async throws {
        let argument = try #require(ProcessInfo.processInfo.environment[Self.variable])
        let task = try JSONDecoder().decode(Errand.self, from: Data(argument.utf8))
        var config = DataAPI.Config.patient
        config.sessions.maximumSessions = 5
        let server = DataAPI.Server(host: task.url, config: config)
        let database = server.addDatabase("Single", credentials: .init(user: "admin", password: ""))
        _ = try await task.kind.batch(in: database, journal: .file(URL(fileURLWithPath: task.journal))).summary
            .firstValue()
        _ = try await server.shutdown().firstValue()
    }

    private static func start(_ task: Errand) throws -> ChildProcess {
        let argument = String(decoding: try JSONEncoder().encode(task), as: UTF8.self)
        return try ChildProcess(
            URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path,
            ["--testing-library", "swift-testing", "--filter", "JournalKillTests/theOtherProcess"],
            environment: ProcessInfo.processInfo.environment.merging([variable: argument]) { $1 },
            output: FileHandle(forWritingAtPath: "/dev/null"),
            errors: FileHandle(forWritingAtPath: "/dev/null")
        )
    }
}

private let rowCount = 60
/// The number of different keys of the rows that repeat them.
private let keyCount = 20
#endif
