import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata probe` against the sandbox: with the defaults nothing differs, and with other settings each affected
/// question reports it.
@Suite(.timeLimit(.minutes(15))) struct ProbeCommandTests {
    private static let password = "secret-\u{1F512}-canary"

    /// A file for which every question can be asked.
    private static let solution: Solution = {
        let fields: [Solution.Field] = [
            .init("Name"), .init("Born", .date), .init("Seen", .timestamp), .init("At", .time), .init("Count", .number),
            .init("gFilter", isGlobal: true),
        ]
        return Solution(
            name: "Observatory",
            tables: [
                .init(
                    name: "Stars",
                    fields: fields,
                    records: [
                        .init(["Name": "Canary of Orion", "Born": "01/31/2026", "Seen": "01/31/2026 22:15:00"])
                    ]
                ),
                .init(name: "Moons", fields: [.init("Star")], records: [.init(["Star": "Canary of Orion"])]),
                .init(name: "Comets", fields: [.init("Star")]),
            ],
            relationships: [.init("Stars", "Moons", matches: [.init("Name", "Star")])],
            layouts: [
                .layout(
                    .init(
                        name: "Star Map",
                        table: "Stars",
                        fields: fields.map { .init($0.name) },
                        portals: [.init(table: "Moons", fields: ["Moons::Star"])]
                    )
                ),
                .layout(.init(name: "Star List", table: "Stars", fields: ["Name"])),
                .layout(.init(name: "Comet List", table: "Comets", fields: ["Star"])),
            ],
            accounts: [.init(name: "api", password: password)]
        )
    }()

    private func withHost<Value>(
        _ configure: (inout Sandbox.Configuration) -> Void = { _ in },
        _ body: (Sandbox) async throws -> Value
    ) async throws -> Value {
        var configuration = Sandbox.Configuration()
        // On a busy machine an idle connection must not be closed just when a write is sent on it.
        configuration.keepAlive = .seconds(600)
        configure(&configuration)
        let sandbox = try await Sandbox.start([Self.solution], configuration: configuration)
        let result: Result<Value, any Error>
        do { result = .success(try await body(sandbox)) } catch { result = .failure(error) }
        await sandbox.stop()
        return try result.get()
    }

    // MARK: The command

    @Test func againstTheSandboxNothingDiffers() async throws {
        try await withHost { sandbox in
            let before = sandbox.counters.executedWrites
            let finished = try await FinishedProgram.run(["probe"], environment: environment(sandbox))
            expectNoDifference(finished.status, 0, "\(finished)")
            #expect(finished.output.contains("\n19 asked, 0 different, 3 not asked\n"), "\(finished.output)")
            expectNoDifference(sandbox.counters.executedWrites, before)
            expectNoDifference(sandbox.counters.openSessions, 0)
            expectNamesNobody(finished)
        }
    }

    @Test func writesGoToTheScratchLayoutAndAreTakenBack() async throws {
        try await withHost { sandbox in
            let finished = try await FinishedProgram.run(
                ["probe", "--layout", "Star Map", "--write", "Star List"],
                environment: environment(sandbox)
            )
            expectNoDifference(finished.status, 0, "\(finished)")
            #expect(finished.output.contains("\n22 asked, 0 different, 0 not asked\n"), "\(finished.output)")
            expectNoDifference(sandbox.records(ofTable: "Stars", inDatabase: "Observatory")?.count, 1)
            expectNamesNobody(finished)
        }
    }

    @Test func aDifferenceIsToldAndIsTheExitStatus() async throws {
        try await withHost({ $0.findPastEnd = .emptyPage }) { sandbox in
            let finished = try await FinishedProgram.run(["probe"], environment: environment(sandbox))
            expectNoDifference(finished.status, 3)
            let told = finished.output.split(separator: "\n").filter { $0.hasPrefix("DIFFERENT") }
            expectNoDifference(
                told,
                [
                    "DIFFERENT   find-past-end         a find whose offset lies behind the last record: a page of 0; "
                        + "assumed was: error 401, HTTP 500"
                ]
            )
            expectNamesNobody(finished)
        }
    }

    /// Each setting that changes the sandbox's behaviour, and the questions that notice it.
    private static let otherwise: [(Otherwise, [String])] = [
        (.emptyPagePastEnd, ["find-past-end"]), (.recordMissingPastEnd, ["find-past-end"]),
        (.ignoresNameCase, ["layout-name-case", "field-name-case"]), (.spaceInTimestamps, ["iso-timestamp"]),
        (.criteriaInUS, ["iso-criterion"]), (.criteriaInISO, ["iso-criterion"]),
        (.portalFieldsWithoutTable, ["portal-field-names"]), (.version18, []), (.version19, []),
    ]

    @Test(.thorough, arguments: otherwise)
    func whatTheSandboxCanDoOtherwiseIsFound(_ otherwise: Otherwise, _ names: [String]) async throws {
        try await withHost(otherwise.configure) { sandbox in
            let finished = try await FinishedProgram.run(["probe"], environment: environment(sandbox))
            let told = finished.output.split(separator: "\n").filter { $0.hasPrefix("DIFFERENT") }
            expectNoDifference(told.map { $0.split(separator: " ")[1] }, names.map { $0[...] }, "\(finished.output)")
            expectNoDifference(finished.status, names.isEmpty ? 0 : 3)
            expectNamesNobody(finished)
        }
    }

    enum Otherwise: CaseIterable {
        case emptyPagePastEnd, recordMissingPastEnd, ignoresNameCase, spaceInTimestamps, criteriaInUS, criteriaInISO
        case portalFieldsWithoutTable, version18, version19

        func configure(_ configuration: inout Sandbox.Configuration) {
            switch self {
            case .emptyPagePastEnd: configuration.findPastEnd = .emptyPage
            case .recordMissingPastEnd: configuration.findPastEnd = .recordMissing
            case .ignoresNameCase: configuration.ignoresNameCase = true
            case .spaceInTimestamps: configuration.isoTimestampSeparator = .space
            case .criteriaInUS: configuration.isoCriterionDates = .us
            case .criteriaInISO: configuration.isoCriterionDates = .iso
            case .portalFieldsWithoutTable: configuration.portalFieldNames = .plain
            case .version18: configuration.serverVersion = .v18
            case .version19: configuration.serverVersion = .v19
            }
        }
    }

    private func environment(_ sandbox: Sandbox) -> [String: String] {
        ["FM_HOST": sandbox.url, "FM_DATABASE": "Observatory", "FM_USER": "api", "FM_PASSWORD": Self.password]
    }

    /// The report contains no names, so it can be pasted anywhere.
    private func expectNamesNobody(_ finished: FinishedProgram) {
        for name in ["canary", "Canary", "Observatory", "Star", "Comet", "Moon", "Name", "gFilter", "api", "127.0.0.1"]
        {
            #expect(!(finished.output + finished.errors).contains(name), "\(name)")
        }
    }

    // MARK: Each question

    /// For each question, a call in which the host can answer differently, and the number of earlier calls of its kind.
    private static let calls: [String: (endpoint: Sandbox.Endpoint, earlier: Int)] = [
        "find-past-end": (.find, 1), "range-past-end": (.getRecords, 1), "record-missing": (.getRecord, 0),
        "empty-table": (.getRecords, 0),
        "layout-missing": (.layoutMetadata, 0), "layout-name-case": (.layoutMetadata, 0), "field-name-case": (.find, 1),
        "script-missing": (.runScript, 0), "database-missing": (.login, 0), "global-criterion": (.find, 0),
        "unreadable-date": (.find, 0), "unreadable-timestamp": (.find, 0), "unreadable-time": (.find, 0),
        "unreadable-number": (.find, 0), "response-layout": (.getRecords, 0), "data-info": (.getRecords, 0),
        "equal-value": (.editRecord, 0), "duplicate-mod-id": (.getRecord, 0), "stale-mod-id": (.editRecord, 0),
    ]

    /// The other questions notice a different content instead of an error; ``whatTheSandboxCanDoOtherwiseIsFound``
    /// tests them.
    @Test func everyQuestionHasATestThatFindsADifference() {
        let found = Set(Self.calls.keys).union(Self.otherwise.flatMap(\.1))
        expectNoDifference(found, Set(ProbeQuestion.all.map(\.name)))
        expectNoDifference(Set(Self.otherwise.map(\.0)), Set(Otherwise.allCases))
    }

    @Test(arguments: calls.keys.sorted())
    func eachDifferenceIsFound(_ name: String) async throws {
        let question = try #require(ProbeQuestion.all.first { $0.name == name })
        let call = try #require(Self.calls[name])
        try await withHost { sandbox in
            let server = DataAPI.Server(host: sandbox.url)
            let credentials = Credentials(user: "api", password: Self.password)
            let layout = server.addDatabase("Observatory", credentials: credentials).addLayout("Star Map")
            let subject = ProbeSubject(
                layout: layout,
                metadata: try await layout.getLayoutMetadata().firstValue(),
                siblings: [layout.database.addLayout("Star List")],
                scratch: layout,
                missing: server.addDatabase(ProbeSubject.nobodysName, credentials: credentials),
                iso: layout,
                empty: layout.database.addLayout("Comet List")
            )
            sandbox.inject(.error(FileMakerError(3)), on: call.endpoint, skipping: call.earlier)
            let report = await ProbeReport(version: nil, asking: [question], of: subject)
            #expect(report.differs, "\(report.text)")
            #expect(report.text.contains("error 3,"), "\(report.text)")
            _ = await server.shutdown().awaitSingleResult()
        }
    }
}
