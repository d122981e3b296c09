import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// The commands that write, from end to end.
@Suite(.timeLimit(.minutes(15))) struct WritingTests {
    private func record(_ id: Int, _ home: Home) -> [String: String] {
        home.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first { $0.recordId == id }?.values ?? [:]
    }

    // MARK: Records

    @Test(.thorough) func createEditDuplicateDelete() async throws {
        try await Home.with { home in
            let home = home.asAdmin
            expect(
                try await home.fmdata(
                    "create",
                    "Contacts",
                    "Name=Mary",
                    "Birthday=1797-08-30",
                    #"Nicknames:=["a","b"]"#
                ),
                "{\"recordId\":4,\"modId\":0}\n"
            )
            expectNoDifference(record(4, home)["Birthday"], "08/30/1797")
            expectNoDifference(record(4, home)["Nicknames(2)"], "b")
            expect(
                try await home.fmdata("edit", "Contacts", "4", "City=London", "Balance=12.50", "--mod-id", "0"),
                "{\"recordId\":4,\"modId\":1}\n"
            )
            expectNoDifference(record(4, home)["Balance"], "12.50")
            let conflict = try await home.fmdata("edit", "Contacts", "4", "City=Bath", "--mod-id", "0")
            #expect(conflict.status == 6, "\(conflict.errors)")
            expectNoDifference(record(4, home)["City"], "London")
            expect(try await home.fmdata("duplicate", "Contacts", "4", "--csv"), "recordId,modId\r\n5,0\r\n")
            expect(
                try await home.fmdata("delete", "Contacts", "5", "--yes"),
                "",
                errors: "Record 5 of \"Contacts\" is deleted.\n"
            )
            expectNoDifference(record(5, home), [:])
        }
    }

    @Test(.thorough, arguments: ["--json", "--ndjson"])
    func whatWasPrintedIsWrittenAgain(_ form: String) async throws {
        try await Home.with { home in
            let home = home.asAdmin
            let printed = try await home.fmdata(
                "get",
                "Contacts",
                "1",
                "--fields",
                "Name,Birthday,WakeUp",
                "--portals",
                "Phones",
                form
            )
            let edited = try await home.fmdata("edit", "Contacts", "1", "-", input: printed.output)
            expect(edited, "{\"recordId\":1,\"modId\":1}\n")
            expectNoDifference(record(1, home)["Birthday"], "12/10/1815")
            let made = try await home.fmdata("create", "Contacts", "-", input: #"{"Name": "Mary", "Balance": 1.5}"#)
            expect(made, "{\"recordId\":4,\"modId\":0}\n")
        }
    }

    @Test func aRecordThatSomebodyEditsIsAConflict() async throws {
        try await Home.with { home in
            try home.sandbox.setLocked(true, recordId: 1, ofTable: "Contacts", inDatabase: "World")
            let locked = try await home.asAdmin.fmdata("edit", "Contacts", "1", "City=Bath", "--json")
            #expect(locked.status == 6)
            #expect(locked.errors.contains(#""code":301"#), "\(locked.errors)")
        }
    }

    @Test func aWriteIsNotSentAgain() async throws {
        try await Home.with { home in
            home.sandbox.inject(.error(.recordInUse), on: .editRecord)
            let locked = try await home.asAdmin.fmdata("edit", "Contacts", "1", "City=Bath")
            expectNoDifference(locked.status, 6, "\(locked.errors)")
            expectNoDifference(home.sandbox.counters.requests[.editRecord], 1)
        }
    }

    /// The account has nothing to do with it.
    @Test func aCalculationIsNotWritten() async throws {
        try await Home.with { home in
            for arguments in [["edit", "Contacts", "1", "Label=x"], ["create", "Contacts", "Name=x", "Label=y"]] {
                let refused = try await FinishedProgram.run(
                    arguments,
                    environment: ["HOME": home.folder.path].merging(home.asAdmin.environment) { $1 }
                )
                expect(refused, "", errors: "Error: Label is a calculation, and cannot be written.\n", status: 64)
            }
            expectNoDifference(home.sandbox.counters.executedWrites, 0)
        }
    }

    // MARK: Unknown outcomes

    @Test func anUnknownOutcomeIsSaid() async throws {
        try await Home.with { home in
            home.sandbox.inject(.resetAfterExecution, on: .createRecord)
            let lost = try await home.asAdmin.fmdata("create", "Contacts", "Name=Mary")
            #expect(lost.status == 7, "\(lost.errors)")
            #expect(lost.output == "")
            #expect(lost.errors.contains("The server may have carried out the request."), "\(lost.errors)")
            #expect(
                lost.errors.hasSuffix(
                    "It was not sent again. Look whether it was carried out before you send it once more.\n"
                )
            )
            #expect(home.sandbox.counters.requests[.createRecord] == 1)
            expectNoDifference(record(4, home)["Name"], "Mary")
        }
    }

    @Test func anInterruptedWriteIsSaid() async throws {
        try await Home.with { home in
            home.sandbox.inject(.holdAnswer, on: .createRecord)
            let (started, continuation) = AsyncStream<Int32>.makeStream()
            async let finished = FinishedProgram.run(
                ["create", "Contacts", "Name=Mary"],
                environment: ["HOME": home.folder.path].merging(home.asAdmin.environment) { $1 },
                started: { continuation.yield($0) }
            )
            await home.sandbox.untilAnswersHeld()
            for await process in started {
                kill(process, SIGINT)
                break
            }
            expect(
                try await finished,
                "",
                errors: "Interrupted: whether the write was carried out is not known.\n",
                status: 130
            )
            home.sandbox.releaseAnswers()
        }
    }

    // MARK: Dry runs

    @Test(
        .thorough,
        arguments: [
            (
                ["create", "Contacts", "Name=Mary", "Birthday=1797-08-30"],
                "POST /fmi/data/vLatest/databases/World/layouts/Contacts/records\n"
                    + #"{"fieldData":{"Name":"Mary","Birthday":"08/30/1797"}}"# + "\n"
            ),
            (
                ["edit", "Contacts", "1", "City=Bath", "--mod-id", "3"],
                "PATCH /fmi/data/vLatest/databases/World/layouts/Contacts/records/1\n"
                    + #"{"fieldData":{"City":"Bath"},"modId":"3"}"# + "\n"
            ),
            (
                ["duplicate", "Contacts", "1"],
                "POST /fmi/data/vLatest/databases/World/layouts/Contacts/records/1\n{}\n"
            ),
            (["delete", "Contacts", "1"], "DELETE /fmi/data/vLatest/databases/World/layouts/Contacts/records/1\n"),
            (
                ["globals", "Contacts::gFilter=x"],
                "PATCH /fmi/data/vLatest/databases/World/globals\n{\"globalFields\":{\"Contacts::gFilter\":\"x\"}}\n"
            ),
            (["script", "Contacts", "Echo"], "GET /fmi/data/vLatest/databases/World/layouts/Contacts/script/Echo\n"),
            (
                ["request", "PATCH", "globals", #"{"globalFields":{}}"#, "--json"],
                #"{"method":"PATCH","path":"/fmi/data/vLatest/databases/World/globals","body":{"globalFields":{}}}"#
                    + "\n"
            ),
        ]
    )
    func aDryRunSendsNothing(_ arguments: [String], _ printed: String) async throws {
        try await Home.with { home in
            var environment = home.asAdmin.environment
            environment["HOME"] = home.folder.path
            let finished = try await FinishedProgram.run(arguments + ["--dry-run"], environment: environment)
            expect(finished, printed)
            let counters = home.sandbox.counters
            let reads: Set<Sandbox.Endpoint> = [.login, .logout, .layoutMetadata]
            expectNoDifference(counters.requests.keys.filter { !reads.contains($0) }, [])
            if !["create", "edit"].contains(arguments[0]) { expectNoDifference(counters.requests, [:]) }
        }
    }

    @Test func aDryRunOfAnUploadTellsItsLength() async throws {
        try await Home.with { home in
            try Data("bow".utf8).write(to: home.file("bow.txt"))
            let put = try await home.asAdmin.fmdata(
                "container",
                "put",
                "Contacts",
                "1",
                "Photo",
                home.file("bow.txt").path,
                "--dry-run"
            )
            #expect(
                put.output.hasPrefix(
                    "POST /fmi/data/vLatest/databases/World/layouts/Contacts/records/1/containers/Photo"
                ),
                "\(put.output)"
            )
            #expect(put.output.hasSuffix(" bytes)\n"))
            expectNoDifference(home.sandbox.counters.requests, [:])
        }
    }

    // MARK: Deleting

    @Test func deletingAsks() async throws {
        try await Home.with { home in
            let refused = try await home.asAdmin.fmdata("delete", "Contacts", "1")
            #expect(refused.status == 64)
            #expect(refused.errors.hasPrefix("Error: There is no terminal to ask whether to delete it"))
            #if os(Linux)
            for (answer, status) in [("n", 1), ("", 1), ("y", 0)] as [(String, Int32)] {
                let terminal = try Terminal()
                async let finished = home.asAdmin.fmdata("delete", "Contacts", "1", terminal: terminal)
                _ = await terminal.text(until: "[y/N] ")
                terminal.type(answer)
                #expect(try await finished.status == status)
                #expect(record(1, home).isEmpty == (status == 0))
            }
            #endif
        }
    }

    // MARK: Scripts, globals, containers

    @Test(.thorough) func aScriptPrintsItsResult() async throws {
        try await Home.with { home in
            let home = home.asAdmin
            expect(try await home.fmdata("script", "Contacts", "Echo", "ä b"), "ä b\n")
            expect(try await home.fmdata("script", "Contacts", "Echo", "-", input: "from here"), "from here\n")
            expect(try await home.fmdata("script", "Contacts", "Echo", "secret", "--confidential"), "secret\n")
            expect(
                try await home.fmdata("script", "Contacts", "Echo", "x", "--json"),
                "{\"script\":\"Echo\",\"result\":\"x\",\"error\":\"0\"}\n"
            )
            let failed = try await home.fmdata("script", "Contacts", "Fail")
            #expect(failed.status == 1)
            #expect(failed.errors.hasPrefix("Error: The script ended with error 5"), "\(failed.errors)")
            let hidden = try await home.fmdata("script", "Contacts", "Echo", "x", "--confidential", "--dry-run")
            #expect(hidden.status == 64)
        }
    }

    @Test(.thorough) func globalsLastAsLongAsTheSession() async throws {
        try await Home.with { home in
            let alone = try await home.asAdmin.fmdata("globals", "Contacts::gFilter=London")
            expect(
                alone,
                "",
                errors: "The session ends with this command, and the globals with it. fmdata login keeps sessions.\n"
            )
            _ = try await home.asAdmin.fmdata("login")
            expect(try await home.fmdata("globals", "Contacts::gFilter=London"), "")
            let get = try await home.fmdata("get", "Contacts", "1", "--fields", "gFilter", "--csv")
            expect(get, "recordId,modId,gFilter\r\n1,0,London\r\n")
            let wrong = try await home.fmdata("globals", "gFilter=London")
            #expect(wrong.status == 64)
        }
    }

    @Test(.thorough) func filesGoIntoContainersAndComeBack() async throws {
        try await Home.with { home in
            let home = home.asAdmin
            let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try content.write(to: home.file("bow.bin"))
            let put = try await home.fmdata("container", "put", "Contacts", "1", "Photo", home.file("bow.bin").path)
            #expect(put.status == 0, "\(put.errors)")
            let path = home.file("copy.bin").path
            let get = try await home.fmdata("container", "get", "Contacts", "1", "Photo", "--output", path, "--csv")
            #expect(get.output.hasPrefix("file,byteCount,type\r\n\(path),200000,"), "\(get.output)\(get.errors)")
            #expect(try Data(contentsOf: home.file("copy.bin")) == content)
            let again = try await home.fmdata("container", "get", "Contacts", "1", "Photo", "--output", path)
            expect(again, "", errors: "Error: \(path) is there already: --force replaces it.\n", status: 1)
            #expect(
                try await home.fmdata("container", "get", "Contacts", "1", "Photo", "-o", path, "--force").status == 0
            )

            _ = try await home.fmdata(
                "container",
                "put",
                "Contacts",
                "1",
                "Photo",
                "-",
                "--name",
                "note.txt",
                input: "hello"
            )
            expect(try await home.fmdata("container", "get", "Contacts", "1", "Photo", "-o", "-"), "hello")
            let empty = try await home.fmdata("container", "get", "Contacts", "2", "Photo", "-o", path, "--force")
            #expect(empty.status == 1)
            #expect(try Data(contentsOf: home.file("copy.bin")) == content, "the file before stays")
        }
    }

    @Test(
        arguments: [
            ("bow.jpg", "bow.jpg"), ("../../etc/passwd", "passwd"), (".bashrc", "bashrc"), ("-rf", "rf"),
            ("a\u{0}b\n", "ab"),
            (#"C:\x\y.png"#, "y.png"), ("..", nil), ("", nil), (nil, nil),
        ] as [(String?, String?)]
    )
    func theNameOfAFileLeadsNowhereElse(_ name: String?, _ safe: String?) {
        expectNoDifference(ContainerGetCommand.safeName(name), safe)
    }

    // MARK: Any request

    @Test(.thorough) func anyRequest() async throws {
        try await Home.with { home in
            let home = home.asAdmin
            let records = try await home.fmdata("request", "get", "layouts/Contacts/records?_limit=1")
            #expect(records.output.hasPrefix(#"{"response":"#), "\(records.output)\(records.errors)")
            #expect(records.output.contains("Ada Lovelace"))
            let query = #"{"query":[{"City":"Paris"}]}"#
            let found = try await home.fmdata("request", "POST", "layouts/Contacts/_find", "-", input: query)
            #expect(found.output.contains("Châtelet"))
            let named = try await home.fmdata("request", "GET", "layouts/Names%20%2F%20100%20%25%20%C3%9Cbersicht")
            #expect(named.status == 0, "\(named.errors)")
            let wrong = try await home.fmdata("request", "GET", "layouts/Contacts/records/99")
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains("fileMaker 101"), "\(wrong.errors)")
            for arguments in [["BREW", "scripts"], ["DELETE", "sessions/x"], ["GET", ""]] {
                let refused = try await FinishedProgram.run(
                    ["request"] + arguments,
                    environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
                )
                #expect(refused.status == 64, "\(refused.errors)")
            }
        }
    }
}
