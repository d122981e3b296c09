import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI
@testable import FMModel

/// `fmdata schema` and `fmdata generate` against the sandbox, from end to end.
@Suite(.timeLimit(.minutes(15))) struct SchemaCommandTests {
    private static let password = "secret-\u{1F512}-canary"

    /// Runs a test with a server with one table and the given layouts, and with a folder for models.
    private func withHost(
        _ layouts: [String] = ["A", "B", "C", "D", "E"],
        fields: [String] = ["Name", "Total %"],
        _ body: (Sandbox, URL) async throws -> Void
    ) async throws {
        let sandbox = try await Sandbox.start(
            [Self.solution(layouts, fields: fields)],
            configuration: .patient
        )
        do {
            try await withTemporaryFolder { try await body(sandbox, $0) }
            #expect(sandbox.counters.openSessions == 0)
            await sandbox.stop()
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    private static func solution(_ layouts: [String], fields: [String]) throws -> Solution {
        let fieldList = fields.map { "\"\($0)\"" }.joined(separator: ",")
        let layoutList = layouts.map { #"{"name": "\#($0)", "table": "T", "fields": [\#(fieldList)]}"# }
            .joined(separator: ",")
        let text = """
            {
              "name": "Shop", "tables": [{"name": "T", "fields": [\(fieldList)]}], "layouts": [\(layoutList)],
              "accounts": [{"name": "api", "password": "\(password)"}]
            }
            """
        return try JSONDecoder().decode(Solution.self, from: Data(text.utf8))
    }

    private func fmdata(_ sandbox: Sandbox, _ folder: URL, _ arguments: String...) async throws -> FinishedProgram {
        let finished = try await FinishedProgram.run(
            arguments + ["--models", folder.path],
            environment: [
                "FM_HOST": sandbox.url, "FM_DATABASE": "Shop", "FM_USER": "api", "FM_PASSWORD": Self.password,
            ]
        )
        #expect(!(finished.output + finished.errors).contains("canary"))
        return finished
    }

    private func files(_ folder: URL) throws -> [String: String] {
        var files: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            files[path] = try? String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
        }
        return files
    }

    @Test(.thorough) func fetchGenerateCheckDiff() async throws {
        try await withHost { sandbox, folder in
            let fetched = try await fmdata(sandbox, folder, "schema", "fetch", "A", "B")
            expectNoDifference(
                fetched,
                FinishedProgram(
                    status: 0,
                    output: "A:\n  + layout \"A\": type A\nB:\n  + layout \"B\": type B\n",
                    errors: ""
                )
            )
            let generated = try await fmdata(sandbox, folder, "generate")
            expectNoDifference(
                generated,
                FinishedProgram(status: 0, output: "made Generated/A.swift\nmade Generated/B.swift\n", errors: "")
            )
            let requests = sandbox.counters.requests.values.reduce(0, +)
            let check = try await fmdata(sandbox, folder, "generate", "--check")
            expectNoDifference(check, FinishedProgram(status: 0, output: "", errors: ""))
            #expect(sandbox.counters.requests.values.reduce(0, +) == requests, "no network")
            let diff = try await fmdata(sandbox, folder, "schema", "diff")
            expectNoDifference(diff, FinishedProgram(status: 0, output: "", errors: ""))
            let before = try files(folder)
            _ = try await fmdata(sandbox, folder, "schema", "fetch")
            expectNoDifference(try files(folder), before)
        }
    }

    @Test(.thorough) func differencesAreSaidInWordsThenInLines() async throws {
        try await withHost(["A"]) { sandbox, folder in
            _ = try await fmdata(sandbox, folder, "schema", "fetch", "A")
            try await withHost(["B"], fields: ["Name", "Total %", "Total"]) { changed, _ in
                _ = try await fmdata(changed, folder, "schema", "fetch", "B")
                // This host has no layout A, but a layout B.
                let gone = try await fmdata(changed, folder, "schema", "diff")
                #expect(gone.status == 3)
                #expect(gone.output.hasPrefix("A:\n  - layout \"A\"  [breaking]\n\n--- a/FileMaker/A.json\n"))
            }
            try await withHost(["A"], fields: ["Name", "Total %", "Total"]) { changed, _ in
                let diff = try await fmdata(changed, folder, "schema", "diff", "A")
                expectNoDifference(
                    diff,
                    FinishedProgram(
                        status: 3,
                        output: """
                            A:
                              + field "Total": text

                            --- a/FileMaker/A.json
                            +++ b/FileMaker/A.json
                            @@ -1,7 +1,8 @@
                             {
                               "fields": [
                                 {"name": "Name", "result": "text", "swift": "name"},
                            -    {"name": "Total %", "result": "text", "swift": "total"}
                            +    {"name": "Total %", "result": "text", "swift": "total"},
                            +    {"name": "Total", "result": "text", "swift": "total_2"}
                               ],
                               "format": 1,
                               "layout": "A",

                            """,
                        errors: ""
                    )
                )
                let json = try await fmdata(changed, folder, "schema", "diff", "A", "--json")
                #expect(json.status == 3)
                let list = try JSONDecoder().decode([[String: Value]].self, from: Data(json.output.utf8))
                expectNoDifference(
                    list,
                    [
                        [
                            "layout": .text("A"), "kind": .text("added"), "subject": .text("field"),
                            "name": .text("Total"),
                            "detail": .text("text"), "isBreaking": .flag(false),
                        ]
                    ]
                )
            }
        }
    }

    private enum Value: Decodable, Equatable {
        case text(String)
        case flag(Bool)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = try (try? container.decode(Bool.self)).map(Value.flag) ?? .text(container.decode(String.self))
        }
    }

    /// Pitfall 2: the third of five layouts does not exist.
    @Test func whenOneLayoutFailsNothingIsWritten() async throws {
        try await withHost { sandbox, folder in
            _ = try await fmdata(sandbox, folder, "schema", "fetch", "A", "B")
            _ = try await fmdata(sandbox, folder, "generate")
            let before = try files(folder)
            let failed = try await fmdata(sandbox, folder, "schema", "fetch", "A", "B", "X", "D", "E")
            #expect(failed.status == 1)
            #expect(failed.output.isEmpty)
            #expect(failed.errors.hasPrefix("X: fileMaker 105: Layout is missing"))
            #expect(failed.errors.hasSuffix("\nNothing was written.\n"))
            expectNoDifference(try files(folder), before)
        }
    }

    /// Pitfall 2: the fetch is interrupted while the host has not yet answered.
    @Test func anInterruptedFetchWritesNothing() async throws {
        try await withHost { sandbox, folder in
            _ = try await fmdata(sandbox, folder, "schema", "fetch", "A", "B")
            let before = try files(folder)
            sandbox.inject(.holdAnswer, on: .layoutMetadata, skipping: 2)
            let (started, continuation) = AsyncStream<Int32>.makeStream()
            async let finished = FinishedProgram.run(
                ["schema", "fetch", "A", "B", "C", "D", "E", "--models", folder.path],
                environment: [
                    "FM_HOST": sandbox.url, "FM_DATABASE": "Shop", "FM_USER": "api", "FM_PASSWORD": Self.password,
                ],
                started: { continuation.yield($0) }
            )
            await sandbox.untilAnswersHeld()
            for await process in started {
                kill(process, SIGINT)
                break
            }
            let end = try await finished
            expectNoDifference(end, FinishedProgram(status: 130, output: "", errors: ""))
            sandbox.releaseAnswers()
            expectNoDifference(try files(folder), before)
        }
    }

    /// Pitfall 2: the disk is full.
    @Test(.thorough) func whatCannotBeWrittenLeavesTheOldFiles() async throws {
        try await withHost { sandbox, folder in
            _ = try await fmdata(sandbox, folder, "schema", "fetch", "A", "B")
            _ = try await fmdata(sandbox, folder, "generate")
            _ = try await fmdata(sandbox, folder, "schema", "fetch", "A", "B", "C")
            try Data(#"{"access": "public"}"#.utf8).write(to: folder.appendingPathComponent("FileMaker/fmdata.json"))
            let before = try files(folder)
            let full = try await FinishedProgram.run(["generate", "--models", folder.path], maximumFileBlocks: 1)
            #expect(full.status == 1)
            #expect(full.output.isEmpty)
            #expect(full.errors.hasPrefix("Error: cannot write \(folder.path)/Generated/"), "\(full.errors)")
            #expect(full.errors.hasSuffix(".swift: File too large\n"), "\(full.errors)")
            expectNoDifference(try files(folder), before)
        }
    }

    @Test(.thorough) func whatWentWrongIsInTheStatus() async throws {
        try await withHost { sandbox, folder in
            func status(_ environment: [String: String], _ arguments: String...) async throws -> Int32 {
                let known = [
                    "FM_HOST": sandbox.url, "FM_DATABASE": "Shop", "FM_USER": "api", "FM_PASSWORD": Self.password,
                ]
                return try await FinishedProgram.run(
                    ["schema", "fetch"] + arguments + ["--models", folder.path],
                    environment: known.merging(environment) { $1 }
                ).status
            }
            #expect(try await status(["FM_PASSWORD": "wrong"], "A") == 4)
            #expect(try await status(["FM_USER": "nobody"], "A") == 4)
            #expect(try await status(["FM_USER": ""], "A") == 64)
            #expect(try await status([:]) == 64, "no layout named, none known")
            #expect(try await status([:], "A", "--all") == 64)
            #expect(try await status([:], "A", "--password", "x") == 64)
            let closed = try ClosedPort()
            #expect(try await status(["FM_HOST": "http://127.0.0.1:\(closed.port)"], "A") == 5)
            #expect(try files(folder).isEmpty)
            #expect(try await status(["FM_USER": ""], "A", "--user", "api") == 0)
        }
    }

    @Test func allLayoutsIncludeThoseInFolders() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        try await withTemporaryFolder { folder in
            let fetched = try await FinishedProgram.run(
                ["schema", "fetch", "--all", "--models", folder.path, "--host", sandbox.url, "--database", "World"],
                environment: ["FM_USER": "admin", "FM_PASSWORD": "secret"]
            )
            #expect(fetched.status == 0)
            expectNoDifference(
                try files(folder).keys.sorted(),
                ["Contact", "Country", "Names100Übersicht", "Phone", "Zone"].map { "FileMaker/\($0).json" }
            )
        }
        await sandbox.stop()
    }

    // MARK: All layouts

    /// Separators of the layout menu are not layouts. A layout that cannot be read does not prevent the others from
    /// being written.
    @Test(.thorough) func aLayoutThatCannotBeReadIsToldAndTheOthersAreWritten() async throws {
        try await withHost(["A", "-", "B", "-", "C"]) { sandbox, folder in
            let all = try await fmdata(sandbox, folder, "schema", "fetch", "--all")
            expectNoDifference(
                all,
                FinishedProgram(
                    status: 0,
                    output:
                        "A:\n  + layout \"A\": type A\nB:\n  + layout \"B\": type B\nC:\n  + layout \"C\": type C\n",
                    errors: ""
                )
            )
            let before = try files(folder)
            try FileManager.default.removeItem(at: folder.appendingPathComponent("FileMaker/A.json"))
            sandbox.inject(.error(9), on: .layoutMetadata, skipping: 1)
            let some = try await fmdata(sandbox, folder, "schema", "fetch", "--all")
            #expect(some.status == 2)
            #expect(some.output == "A:\n  + layout \"A\": type A\n")
            #expect(some.errors.hasPrefix("B: fileMaker 9: "), "\(some.errors)")
            #expect(
                some.errors.hasSuffix(
                    "\n1 of 3 layouts could not be read; nothing was written of them. --except leaves a layout out.\n"
                )
            )
            expectNoDifference(try files(folder), before)

            sandbox.inject(.error(9), on: .layoutMetadata, skipping: 1)
            let diff = try await fmdata(sandbox, folder, "schema", "diff", "--all")
            #expect(diff.status == 2)
            #expect(diff.output.isEmpty)
            #expect(diff.errors.hasPrefix("B: fileMaker 9: "))

            sandbox.inject(.error(9), on: .layoutMetadata, count: nil)
            let none = try await fmdata(sandbox, folder, "schema", "fetch", "--all")
            #expect(none.status == 4)
            #expect(none.errors.hasSuffix("\nNothing was written.\n"))
            expectNoDifference(try files(folder), before)
        }
    }

    /// No URL can name such a layout.
    @Test func aLayoutThatCannotBeAskedForIsToldAndTheOthersAreWritten() async throws {
        try await withHost(["A", "..", "B"]) { sandbox, folder in
            let all = try await fmdata(sandbox, folder, "schema", "fetch", "--all")
            expectNoDifference(all.status, 2, "\(all.errors)")
            expectNoDifference(all.output, "A:\n  + layout \"A\": type A\nB:\n  + layout \"B\": type B\n")
            #expect(all.errors.hasPrefix("..: "), "\(all.errors)")
            #expect(all.errors.contains("1 of 3 layouts could not be read"), "\(all.errors)")
        }
    }

    /// A layout is small, and an answer that does not end would fill the memory.
    @Test func anAnswerThatIsTooLargeIsNotTaken() async throws {
        let text = String(repeating: "x", count: 33 << 20)
        let host = try await ScriptedHost.start { call in
            call.target.hasSuffix("/layouts")
                ? .json(#"{"layouts":[{"name":"A"}]}"#)
                : .json(#"{"fieldMetaData":[],"portalMetaData":{},"x":"\#(text)"}"#)
        }
        try await withTemporaryFolder { folder in
            let fetched = try await FinishedProgram.run(
                ["schema", "fetch", "--all", "--models", folder.path],
                environment: [
                    "FM_HOST": "http://127.0.0.1:\(host.server.port)", "FM_DATABASE": "Harbor", "FM_USER": "api",
                    "FM_PASSWORD": "secret",
                ]
            )
            #expect(fetched.errors.hasPrefix("A: responseTooLarge: "), "\(fetched.errors)")
            expectNoDifference(fetched.status, 1)
        }
        host.stop()
    }

    /// An unreachable host is not the failure of a single layout.
    @Test func aHostThatGoesAwayEndsTheFetch() async throws {
        try await withHost { sandbox, folder in
            sandbox.inject(.reset, on: .layoutMetadata, skipping: 2, count: nil)
            let fetched = try await fmdata(sandbox, folder, "schema", "fetch", "--all")
            #expect(fetched.status == 5)
            #expect(fetched.output.isEmpty)
            #expect(fetched.errors.hasPrefix("Error: network: "), "\(fetched.errors)")
            #expect(try files(folder).isEmpty)
        }
    }

    @Test(.thorough) func layoutsAndFoldersAreLeftOut() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        let known = try await Self.layouts(of: sandbox)
        let (folderName, inFolder) = try #require(known.folders.first)
        try await withTemporaryFolder { folder in
            func run(_ arguments: String...) async throws -> FinishedProgram {
                try await FinishedProgram.run(
                    arguments + ["--models", folder.path, "--host", sandbox.url, "--database", "World"],
                    environment: ["FM_USER": "admin", "FM_PASSWORD": "secret"]
                )
            }
            let fetched = try await run("schema", "fetch", "--all", "--except", folderName, "--except", "Countries")
            #expect(fetched.status == 0)
            let left = Set(known.names).subtracting(inFolder + ["Countries"])
            let written = try SnapshotFolder(reading: folder.appendingPathComponent("FileMaker")).layouts.map(\.layout)
            expectNoDifference(Set(written), left)
            let diff = try await run("schema", "diff", "--all", "--except", folderName, "--except", "Countries")
            expectNoDifference(diff, FinishedProgram(status: 0, output: "", errors: ""))
            let wrong = try await run("schema", "fetch", "--all", "--except", "Contries")
            #expect(wrong.status == 64)
            #expect(
                wrong.errors.hasPrefix(
                    "Error: --except: no layout and no folder is called \"Contries\". Did you mean \"Countries\"?\n"
                )
            )
            #expect(try await run("schema", "fetch", "Contacts", "--except", "Countries").status == 64)
        }
        await sandbox.stop()
    }

    /// The names of all layouts, and those in each folder.
    private static func layouts(
        of sandbox: Sandbox
    ) async throws -> (names: [String], folders: [(name: String, layouts: [String])]) {
        let database = DataAPI.Server(host: sandbox.url)
            .addDatabase("World", credentials: Credentials(user: "admin", password: "secret"))
        let items = try await database.getLayoutNames().firstValue()
        _ = await database.server.shutdown().awaitSingleResult()
        return (
            items.flatMap(\.allLayouts).map(\.name),
            items.compactMap { item in
                guard case .folder(let name, _) = item else { return nil }
                return (name, item.allLayouts.map(\.name))
            }
        )
    }

    @Test func portalsOfOneNameAreSaid() async throws {
        var solution = Solution.sample
        solution.layouts = [
            .layout(
                .init(
                    name: "C",
                    table: "Contacts",
                    fields: ["Name"],
                    portals: [
                        .init(table: "Phones", fields: ["Phones::Kind"]),
                        .init(table: "Phones", fields: ["Phones::Number"]),
                    ]
                )
            )
        ]
        let sandbox = try await Sandbox.start([solution], configuration: .patient)
        try await withTemporaryFolder { folder in
            for _ in 0..<2 {
                let fetched = try await FinishedProgram.run(
                    ["schema", "fetch", "C", "--models", folder.path, "--host", sandbox.url, "--database", "World"],
                    environment: ["FM_USER": "admin", "FM_PASSWORD": "secret"]
                )
                expectNoDifference(
                    fetched.errors,
                    "C: several portals are called \"Phones\", of which answers have one; object names tell them apart\n"
                )
            }
        }
        await sandbox.stop()
    }

    /// A layout that is missing from the list of all layouts is reported as deleted.
    @Test(.thorough) func aLayoutThatTheHostDoesNotHaveAnyMoreIsADifference() async throws {
        try await withHost(["A", "B"]) { sandbox, folder in
            _ = try await fmdata(sandbox, folder, "schema", "fetch", "--all")
            try await withHost(["A"]) { changed, _ in
                let diff = try await fmdata(changed, folder, "schema", "diff", "--all")
                #expect(diff.status == 3)
                #expect(diff.output.hasPrefix("B:\n  - layout \"B\"  [breaking]\n"), "\(diff)")
            }
        }
    }

    /// A committed type name is kept, even if a new layout would now get another name.
    @Test(.thorough) func theTypeOfANewLayoutIsSaidAtOnce() async throws {
        try await withHost(["Orders", "People"]) { sandbox, folder in
            let fetched = try await fmdata(sandbox, folder, "schema", "fetch", "Orders")
            expectNoDifference(fetched.output, "Orders:\n  + layout \"Orders\": type Order\n")
            let file = folder.appendingPathComponent("FileMaker/Order.json")
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data(text.replacingOccurrences(of: #""swift": "Order""#, with: #""swift": "Orders""#).utf8).write(
                to: file
            )
            let more = try await fmdata(sandbox, folder, "schema", "fetch", "--all")
            expectNoDifference(more.output, "People:\n  + layout \"People\": type Person\n")
            let generated = try await fmdata(sandbox, folder, "generate")
            expectNoDifference(generated.output, "made Generated/Orders.swift\nmade Generated/Person.swift\n")
        }
    }

    @Test func theCheckNamesWhatDiffers() async throws {
        try await withHost { sandbox, folder in
            _ = try await fmdata(sandbox, folder, "schema", "fetch", "A")
            let missing = try await fmdata(sandbox, folder, "generate", "--check")
            #expect(missing.status == 3)
            #expect(missing.output.hasPrefix("--- /dev/null\n+++ b/Generated/A.swift\n@@ -0,0 +1,"))
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("Generated").path))
        }
    }
}
