import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// What `fmdata doctor` says of layouts, and of what they show.
@Suite(.timeLimit(.minutes(15))) struct DoctorLayoutTests: DoctorHosts {
    @Test func noLayoutIsVisible() async throws {
        let blind = Solution.PrivilegeSet(name: "Blind", hiddenLayouts: ["Orders", "Order List"])
        try await Self.withHost([Self.solution(privileges: blind)]) { sandbox in
            let examination = try await Self.examine(sandbox)
            let failure = try examination.failure(.layouts)
            expectNoDifference(failure.found, "the account sees no layout")
            expectNoDifference(examination.exit, 4)
        }
    }

    /// A line of the menu is stored as a layout, or a script, with the name "-".
    @Test func linesOfTheMenuDoNotCount() async throws {
        var shop = Self.solution()
        shop.layouts.insert(.layout(.init(name: "-", table: "Orders", fields: [])), at: 0)
        try await Self.withHost([shop]) { sandbox in
            let examination = try await Self.examine(sandbox)
            expectNoDifference(try examination[.layouts].figures["layouts"], 2)
            #expect(try examination[.layout].found.hasPrefix("\"Orders\" shows "))
        }
        let world = try await Sandbox.start(configuration: .patient)
        let examination = try await Examination.run(
            [],
            host: world.url,
            database: "World",
            user: "admin",
            password: "secret"
        )
        expectNoDifference(try examination[.scripts].figures["scripts"], 8)
        await world.stop()
    }

    @Test func aLayoutThatIsMissing() async throws {
        try await Self.withHost { sandbox in
            let examination = try await Self.examine(sandbox, "--layout", "Ordesr")
            let failure = try examination.failure(.layout)
            expectNoDifference(failure.found, #"there is no layout "Ordesr", or the account does not see it"#)
            expectNoDifference(failure.advice, [#"Did you mean --layout "Orders"?"#])
            expectNoDifference(examination.exit, 1)
        }
    }

    @Test func aRecordIsReadAndItsValuesAreNotShown() async throws {
        try await Self.withHost { sandbox in
            let examination = try await Self.examine(sandbox, "--layout", "Orders")
            expectNoDifference(try examination[.record].found, "one of 2 was read, with 3 fields")
            expectNoDifference(try examination[.container].found, "the record has no container with a content")
            expectNoDifference(try examination[.model].found, "there is no snapshot of the layout")
            expectNoDifference(examination.exit, 0)
        }
    }

    @Test func aContainerThatCanBeFetchedAndOneThatCannot() async throws {
        try await Self.withHost { sandbox in
            let database = DataAPI.Server(host: sandbox.url)
                .addDatabase("Shop", credentials: Credentials(user: Examination.user, password: Examination.password))
            let file = FMRest.ContainerFile(fileName: "scan.txt", data: Data("scan-canary".utf8))
            _ = try await database.addLayout("Orders").uploadContainer(file, to: "Scan", recordId: 1).firstValue()
            _ = try await database.server.shutdown().firstValue()
            let well = try await Self.examine(sandbox, "--layout", "Orders")
            expectNoDifference(try well[.container].found, "the content of a container can be fetched")
            sandbox.inject(.html(status: 404), on: .downloadContainer, count: nil)
            let ill = try await Self.examine(sandbox, "--layout", "Orders")
            expectNoDifference(try ill[.container].status, .warning)
            expectNoDifference(ill.exit, 0)
        }
    }

    @Test(.thorough) func theModelIsComparedWithTheLayout() async throws {
        try await Self.withHost { sandbox in
            try await withTemporaryFolder { folder in
                let models = ["--models", folder.path]
                let fetched = try await FinishedProgram.run(
                    ["schema", "fetch", "Orders"] + models,
                    environment: [
                        "FM_HOST": sandbox.url, "FM_DATABASE": "Shop", "FM_USER": Examination.user,
                        "FM_PASSWORD": Examination.password,
                    ]
                )
                expectNoDifference(fetched.status, 0)
                let same = try await Examination.run(["--layout", "Orders"] + models, host: sandbox.url)
                expectNoDifference(try same[.model].found, "the snapshot is like the layout")
                let file = folder.appendingPathComponent("FileMaker/Order.json")
                let text = try String(contentsOf: file, encoding: .utf8)
                try Data(text.replacing(#"{"name": "Number""#, with: #"{"name": "Nummer""#).utf8).write(to: file)
                let different = try await Examination.run(["--layout", "Orders"] + models, host: sandbox.url)
                let failure = try different.failure(.model)
                #expect(failure.found.hasPrefix("2 differences from the snapshot: "), "\(failure)")
                expectNoDifference(different.exit, 3)
            }
        }
    }
}
