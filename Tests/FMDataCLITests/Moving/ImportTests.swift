import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata import` from end to end.
@Suite(.timeLimit(.minutes(15))) struct ImportTests {
    private static let people = "Id,Name,Email,Balance,Joined\r\n"

    private static func rows(_ numbers: ClosedRange<Int>) -> String {
        numbers.map { "\($0),New \($0),n\($0)@example.com,\($0).25,2026-11-02\r\n" }.joined()
    }

    // MARK: Modes

    @Test(.thorough) func newRecordsInTheOrderOfTheFile() async throws {
        try await Home.withMembers(0) { home in
            try home.write(Self.people + Self.rows(1...300), to: "new.csv")
            let finished = try await home.fmdata("import", "Members", home.path("new.csv"))
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 0,
                    output: "{\"created\":300,\"updated\":0,\"rejected\":0,\"unknown\":0,\"unsent\":0}\n",
                    errors: ""
                )
            )
            expectNoDifference(home.values("Id"), (1...300).map { "\($0)" })
            expectNoDifference(home.members[6].values["Joined"], "11/02/2026")
            expectNoDifference(home.members[6].values["Balance"], "7.25")
            // When all is done, nothing is left of it; `.local` is where sessions are noted.
            let names = try FileManager.default.contentsOfDirectory(atPath: home.folder.path)
            expectNoDifference(names.sorted(), [".local", "new.csv"])
            #expect(home.sandbox.sessions.isEmpty)
        }
    }

    @Test func fromStandardInputAsJSON() async throws {
        try await Home.withMembers(1) { home in
            let lines = """
                {"Name":"Ada","Email":"ada@example.com","Balance":0.1}

                {"recordId":7,"modId":3,"fieldData":{"Name":"Émilie","Email":"","Joined":"1706-12-17"}}

                """
            let finished = try await home.fmdata("import", "Members", "-", "--from-ndjson", input: lines)
            #expect(finished.status == 0, "\(finished.errors)")
            expectNoDifference(home.values("Name"), ["Member 1", "Ada", "Émilie"])
            expectNoDifference(home.members[2].values["Joined"], "12/17/1706")
        }
    }

    @Test func byKey() async throws {
        try await Home.withMembers(120) { home in
            let rows = (119...122).map { "m\($0)@example.com,Oslo,\($0 == 119 ? "" : "1")\n" }.joined()
            try home.write("Email,City,Balance\n" + rows + "M1@example.com,Rome,2\n", to: "some.csv")
            let updated = try await home.fmdata(
                "import",
                "Members",
                home.path("some.csv"),
                "--mode",
                "update",
                "--key",
                "Email"
            )
            expectNoDifference(updated.status, 2)
            expectNoDifference(
                updated.output,
                "{\"created\":0,\"updated\":2,\"rejected\":3,\"unknown\":0,\"unsent\":0}\n"
            )
            expectNoDifference(
                home.text("some.rejects.csv"),
                "Email,City,Balance,_line,_code,_message\r\n"
                    + "m121@example.com,Oslo,1,4,,No record has the key.\r\n"
                    + "m122@example.com,Oslo,1,5,,No record has the key.\r\n"
                    // FileMaker would find it, but it is another key.
                    + "M1@example.com,Rome,2,6,,No record has the key.\r\n"
            )
            expectNoDifference(home.values("City").suffix(3), ["Lyon", "Oslo", "Oslo"])
            expectNoDifference(home.members[118].values["Balance"] ?? "", "", "an empty value empties the field")

            // The rejects are rows like others.
            let upserted = try await home.fmdata(
                "import",
                "Members",
                home.path("some.rejects.csv"),
                "--mode",
                "upsert",
                "--key",
                "Email"
            )
            expectNoDifference(
                upserted.output,
                "{\"created\":2,\"updated\":0,\"rejected\":1,\"unknown\":0,\"unsent\":0}\n"
            )
            expectNoDifference(home.values("Email").suffix(2), ["m121@example.com", "m122@example.com"])
            #expect(home.text("some.rejects.rejects.csv")?.contains("M1@example.com,Rome,2,4,,") == true)
        }
    }

    @Test func anExportThatWasChangedComesBack() async throws {
        try await Home.withMembers(3) { home in
            let path = home.path("all.csv")
            #expect(try await home.fmdata("export", "Members", "-o", path).status == 0)
            try home.write(try #require(home.text("all.csv")).replacing("Lyon", with: "Oslo"), to: "all.csv")
            try home.sandbox.editRecord(2, ["Name": "Other"], ofTable: "Members", inDatabase: "Single")
            let arguments = ["--mode", "update", "--key", "recordId"]
            let refused = try await home.fmdata(
                "import",
                "Members",
                path,
                arguments[0],
                arguments[1],
                "--key",
                "recordId"
            )
            #expect(refused.status == 64, "\(refused.errors)")
            for text in ["Photo is a container", "Label is a calculation", "--skip-unwritable"] {
                #expect(refused.errors.contains(text), "\(refused.errors)")
            }
            let finished = try await home.fmdata(
                "import",
                "Members",
                path,
                "--mode",
                "update",
                "--key",
                "recordId",
                "--skip-unwritable"
            )
            // Somebody else has changed the second record since the export.
            expectNoDifference(
                finished.output,
                "{\"created\":0,\"updated\":2,\"rejected\":1,\"unknown\":0,\"unsent\":0}\n"
            )
            #expect(home.text("all.rejects.csv")?.contains(",3,306,") == true)
            expectNoDifference(home.values("Name"), ["Member 1", "Other", "Member 3"])
        }
    }

    // MARK: Values

    /// Line breaks of all kinds, alone, together, and at both ends.
    private static let texts = ["a\nb", "a\rb", "a\r\nb", "\r\n", "\n\r", "a\r", "a\n", "\r\r\n\n", "plain"]

    private static func withTexts(_ body: (Home) async throws -> Void) async throws {
        try await Home.withMembers(texts.count) { home in
            for (index, text) in texts.enumerated() {
                try home.sandbox.editRecord(index + 1, ["Name": text], ofTable: "Members", inDatabase: "Single")
            }
            try await body(home)
        }
    }

    @Test(arguments: ["csv", "ndjson"]) func anExportComesBackAsItWas(_ form: String) async throws {
        try await Self.withTexts { home in
            let path = home.path("all.\(form)")
            let fields = ["--fields", "Name,City"]
            #expect(try await home.fmdata("export", "Members", fields[0], fields[1], "-o", path).status == 0)
            let finished = try await home.fmdata("import", "Members", path, "--mode", "update", "--key", "recordId")
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 0,
                    output: "{\"created\":0,\"updated\":9,\"rejected\":0,\"unknown\":0,\"unsent\":0}\n",
                    errors: "6 rows have line feeds, which were sent as they are. FileMaker's own line break is the "
                        + "carriage return: --line-feeds makes them that.\n"
                )
            )
            expectNoDifference(home.values("Name"), Self.texts)
        }
    }

    @Test func lineFeedsBecomeFileMakersLineBreaks() async throws {
        try await Self.withTexts { home in
            let path = home.path("all.csv")
            let exported = try await home.fmdata("export", "Members", "--line-feeds", "--fields", "Name", "-o", path)
            #expect(exported.status == 0, "\(exported.errors)")
            #expect(home.text("all.csv")?.contains("\"a\nb\"") == true)
            let arguments = ["--mode", "update", "--key", "recordId", "--line-feeds"]
            func imported(_ more: String...) async throws -> FinishedProgram {
                try await FinishedProgram.run(
                    ["import", "Members", path] + arguments + more,
                    environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
                )
            }
            let checked = try await imported("--dry-run")
            #expect(checked.errors.hasPrefix("8 rows have line feeds, which are sent as carriage"), "\(checked.errors)")
            let finished = try await imported()
            #expect(finished.status == 0, "\(finished.errors)")
            expectNoDifference(finished.errors, "8 rows have line feeds, which were sent as carriage returns.\n")
            expectNoDifference(
                home.values("Name"),
                ["a\rb", "a\rb", "a\rb", "\r", "\r\r", "a\r", "a\r", "\r\r\r", "plain"]
            )
        }
    }

    @Test func aKeyWithLineBreaksFindsItsRecord() async throws {
        try await Self.withTexts { home in
            try home.write("Name,City\n\"a\nb\",Oslo\n\"a\r\nb\",Rome\n", to: "some.csv")
            let path = home.path("some.csv")
            let finished = try await home.fmdata("import", "Members", path, "--mode", "update", "--key", "Name")
            #expect(finished.status == 0, "\(finished.errors)")
            expectNoDifference(home.values("City").prefix(3), ["Oslo", "Lyon", "Rome"])
            // What people type has FileMaker's line breaks.
            #expect(try await home.fmdata("edit", "Members", "9", "Name=x\ny").status == 0)
            expectNoDifference(home.values("Name").last, "x\ry")
            let found = try await home.fmdata("find", "Members", "Name=x\ny", "--fields", "Id", "--csv")
            expectNoDifference(found.output, "recordId,modId,Id\r\n9,2,9\r\n")
        }
    }

    @Test(
        arguments: [
            ("dd.MM.yyyy", "24.12.2026"), ("us", "12/24/2026"), ("host", "12/24/2026"), ("iso", "2026-12-24"),
            ("d/M/yyyy", "2026-12-24"),
        ]
    )
    func datesOfAnotherForm(_ form: String, _ date: String) async throws {
        try await Home.withMembers(0) { home in
            try home.write("Name,Joined\nA,\(date)\n", to: "some.csv")
            let finished = try await home.fmdata("import", "Members", home.path("some.csv"), "--date-format", form)
            #expect(finished.status == 0, "\(finished.errors)")
            expectNoDifference(home.values("Joined"), ["12/24/2026"])
        }
    }

    @Test func aFormThatCannotBeRead() async throws {
        try await Home.withMembers(0) { home in
            try home.write("Name,Joined\nA,24/12/26\nB,32.1.2026\n", to: "some.csv")
            let path = home.path("some.csv")
            let short = try await home.fmdata("import", "Members", path, "--date-format", "dd/MM/yy")
            #expect(short.status == 64 && short.errors.contains("dd/MM/yy"), "\(short.errors)")
            let checked = try await home.fmdata("import", "Members", path, "--date-format", "d.M.yyyy", "--dry-run")
            #expect(checked.errors.hasPrefix("2 rows were read, and 2 problems found."), "\(checked.errors)")
            #expect(checked.output.contains("expected a date such as 1.11.2026"), "\(checked.output)")
        }
    }

    @Test func numbersWithLettersAsTheyAre() async throws {
        try await Home.withMembers(0) { home in
            try home.write("Name,Balance,Joined\nA,12 kg,2026-11-02\nB,\"1,5\",\n", to: "some.csv")
            let refused = try await home.fmdata("import", "Members", home.path("some.csv"), "--dry-run")
            #expect(refused.status == 2 && refused.output.contains("expected a number"), "\(refused.output)")
            let finished = try await home.fmdata("import", "Members", home.path("some.csv"), "--as-is")
            #expect(finished.status == 0, "\(finished.errors)")
            expectNoDifference(home.values("Balance"), ["12 kg", "1,5"])
            expectNoDifference(home.values("Joined").first, "11/02/2026")
        }
    }

    // MARK: Checks

    @Test func aDryRunSaysWhatIsWrongWhere() async throws {
        try await Home.withMembers(0) { home in
            try home.write(
                "Id,Nam,Label,Joined\n1,a,b,2026-11-01\nx,a,b,01.11.2026\n",
                to: "bad.csv"
            )
            let writes = home.sandbox.counters.executedWrites
            let finished = try await home.fmdata("import", "Members", home.path("bad.csv"), "--dry-run", "--csv")
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 2,
                    output: """
                        line,column,problem\r
                        1,Nam,"The layout ""Members"" shows no field ""Nam"". Did you mean ""Name""?"\r
                        1,Label,"Label is a calculation, and cannot be written. --skip-unwritable leaves such columns out."\r
                        3,Id,"Id: expected a number, found ""x""."\r
                        3,Joined,"Joined: expected a date such as 2026-11-01, found ""01.11.2026""."\r

                        """,
                    errors: "2 rows were read, and 4 problems found. Nothing was sent.\n"
                )
            )
            try home.write(Self.people + Self.rows(1...2), to: "good.csv")
            let good = try await home.fmdata("import", "Members", home.path("good.csv"), "--dry-run")
            #expect(good.status == 0 && good.output.isEmpty, "\(good.errors)")
            expectNoDifference(home.sandbox.counters.executedWrites, writes)
            let names = try FileManager.default.contentsOfDirectory(atPath: home.folder.path)
            expectNoDifference(names.sorted(), [".local", "bad.csv", "good.csv"])
        }
    }

    @Test func aDryRunSaysWhichValuesAreInNoList() async throws {
        try await Home.with { home in
            try home.write("Name,Status\nA,new\nB,activ\nC,gone\nD,\n", to: "some.csv")
            let finished = try await home.asAdmin.fmdata("import", "Contacts", home.path("some.csv"), "--dry-run")
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 0,
                    output: "",
                    errors: """
                        Status: 2 rows have a value that is not in the value list "Statuses", "activ" in line 3. FileMaker takes \
                        it unless the field is set to refuse it.
                        4 rows were read, and 0 problems found. Nothing was sent.

                        """
                )
            )
        }
    }

    @Test func aRowThatCannotBeReadIsNotSent() async throws {
        try await Home.withMembers(0) { home in
            try home.write("Id,Name\n1,a\nx,b\n3,c\n", to: "some.csv")
            let finished = try await home.fmdata("import", "Members", home.path("some.csv"))
            expectNoDifference(finished.status, 2)
            expectNoDifference(home.values("Name"), ["a", "c"])
            expectNoDifference(
                home.text("some.rejects.csv"),
                "Id,Name,_line,_code,_message\r\nx,b,3,,\"Id: expected a number, found \"\"x\"\".\"\r\n"
            )
            #expect(
                finished.errors
                    == "The rows that were refused are in \(home.path("some.rejects.csv")).\n"
                    + "The same command goes on with the rest.\n"
            )
            // Nothing is sent twice; what was put right in the file is sent.
            try home.write("Id,Name\n1,a\n2,b\n3,c\n", to: "some.csv")
            let again = try await home.fmdata("import", "Members", home.path("some.csv"))
            expectNoDifference(again.status, 0, "\(again.errors)")
            expectNoDifference(home.values("Name"), ["a", "c", "b"])
            #expect(!home.exists("some.rejects.csv") && !home.exists("some.csv.journal"))
        }
    }

    @Test func rejectsOfObjectsAreObjects() async throws {
        try await Home.withMembers(1) { home in
            let lines = "{\"Name\": \"x\", \"Email\":\"m1@example.com\" }\n{\"Nope\":1}\n{}\n"
            try home.write(lines, to: "some.jsonl")
            let finished = try await home.fmdata("import", "Members", home.path("some.jsonl"))
            expectNoDifference(
                finished.output,
                "{\"created\":1,\"updated\":0,\"rejected\":2,\"unknown\":0,\"unsent\":0}\n"
            )
            let rejects = try #require(home.text("some.rejects.ndjson")).split(separator: "\n").map(String.init)
            #expect(rejects[0].hasPrefix(#"{"Nope":1,"_line":2,"_code":null,"_message":"The layout"#), "\(rejects)")
            #expect(
                rejects[1].hasPrefix(#"{"Name": "x", "Email":"m1@example.com","_line":1,"_code":504,"#),
                "\(rejects)"
            )
        }
    }

    @Test(
        arguments: [
            ("a.csv", "Id,Name\n1\n", "line 2: 1 values, and the first line names 2 columns"),
            ("a.csv", "Id,Name\n1,\"x\n", "line 2: a quote is never closed"),
            ("a.ndjson", "{\"Id\":1}\n[1]\n", "line 2: expected a JSON object"),
        ]
    )
    func whatIsNoRowEndsTheImport(_ name: String, _ text: String, _ message: String) async throws {
        try await Home.withMembers(0) { home in
            try home.write(text, to: name)
            let finished = try await home.fmdata("import", "Members", home.path(name))
            #expect(finished.status == 1 && finished.errors.contains(message), "\(finished.errors)")
        }
    }

    @Test(.thorough) func whatMakesNoSense() async throws {
        try await Home.withMembers(0) { home in
            try home.write("Id\n1\n", to: "a.csv")
            for arguments in [
                ["a.csv", "--mode", "update"], ["a.csv", "--mode", "merge"], ["a.txt"], ["-"],
                ["a.csv", "--concurrency", "0"], ["a.csv", "--mode", "upsert", "--key", "Name"],
                ["a.csv", "--rejects", home.path("a.csv")],
            ] {
                let finished = try await FinishedProgram.run(
                    ["import", "Members", arguments[0].contains(".") ? home.path(arguments[0]) : arguments[0]]
                        + arguments.dropFirst(),
                    environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
                )
                #expect(finished.status == 64, "\(arguments) \(finished.errors)")
            }
            #expect(home.members.isEmpty)
        }
    }

    @Test func tooManyErrorsStopIt() async throws {
        try await Home.withMembers(5) { home in
            try home.write("Id,Name\n" + (1...100).map { "\($0),x\n" }.joined(), to: "some.csv")
            let finished = try await home.fmdata("import", "Members", home.path("some.csv"), "--max-errors", "3")
            #expect(finished.status == 1, "\(finished.errors)")
            #expect(finished.output.contains("\"created\":0") && finished.output.contains("\"rejected\":3"))
            expectNoDifference(home.members.count, 5)
        }
    }

    /// Rows that are refused have to be kept, so the place for them is looked at before anything is sent.
    @Test(arguments: ["--rejects", "--unknown", "--journal"])
    func aFileThatCannotBeWrittenIsNoticedAtOnce(_ option: String) async throws {
        try await Home.withMembers(0) { home in
            try home.write("Id,Name\n1,a\n2,b\n", to: "some.csv")
            for path in ["nowhere/some.csv", "."] {
                let finished = try await home.fmdata(
                    "import",
                    "Members",
                    home.path("some.csv"),
                    option,
                    home.path(path)
                )
                #expect(finished.status == 1, "\(path): \(finished)")
                #expect(finished.errors.contains(home.path(path)), "\(finished.errors)")
                expectNoDifference(finished.output, "")
                expectNoDifference(home.members.count, 0)
            }
        }
    }

    // MARK: Trouble

    @Test func aLostAnswerIsNotSentAgain() async throws {
        try await Home.withMembers(0) { home in
            try home.write("Id,Name\n1,a\n2,b\n3,c\n", to: "some.csv")
            home.sandbox.inject(.resetAfterExecution, on: .createRecord, skipping: 1)
            let finished = try await home.fmdata("import", "Members", home.path("some.csv"))
            expectNoDifference(finished.status, 2)
            expectNoDifference(
                finished.output,
                "{\"created\":2,\"updated\":0,\"rejected\":0,\"unknown\":1,\"unsent\":0}\n"
            )
            #expect(home.text("some.unknown.csv")?.hasPrefix("Id,Name,_line,_code,_message\r\n2,b,3,,") == true)
            #expect(!home.exists("some.rejects.csv"))
            let again = try await home.fmdata("import", "Members", home.path("some.csv"))
            expectNoDifference(again.status, 2)
            expectNoDifference(home.values("Name"), ["a", "b", "c"], "sent once")
        }
    }

    @Test func withAKeyALostAnswerIsLookedUp() async throws {
        try await Home.withMembers(0) { home in
            try home.write("Email,Name\na@b.c,a\nd@e.f,b\ng@h.i,c\n", to: "some.csv")
            home.sandbox.inject(.resetAfterExecution, on: .createRecord, skipping: 1)
            let finished = try await home.fmdata("import", "Members", home.path("some.csv"), "--key", "Email")
            expectNoDifference(finished.status, 0, "\(finished.errors)")
            expectNoDifference(home.values("Name"), ["a", "b", "c"])
        }
    }

    @Test(.thorough, arguments: ["insert", "upsert"])
    func killedAndResumed(_ mode: String) async throws {
        try await Home.withMembers(0) { home in
            try home.write(Self.people + Self.rows(1...200), to: "new.csv")
            func run(_ moment: (@Sendable () async -> Void)? = nil) async throws -> FinishedProgram {
                let arguments = [
                    "import", "Members", home.path("new.csv"), "--mode", mode, "--key", "Email", "--concurrency", "3",
                    "--settling", "1",
                ]
                guard let moment else {
                    return try await FinishedProgram.run(
                        arguments,
                        environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
                    )
                }
                return try await home.fmdata(arguments, endingBy: SIGKILL, when: moment)
            }
            for calls in [1, 40, 90] {
                // All that follow are held, so that each run is killed before it has written the rest.
                home.sandbox.inject(.holdAnswer, on: .createRecord, skipping: calls, count: nil)
                let killed = try await run { await home.sandbox.untilAnswersHeld() }
                #expect(killed.status == 128 + SIGKILL)
                home.sandbox.clearFaults()
                home.sandbox.releaseAnswers()
            }
            let resumed = try await run()
            expectNoDifference(resumed.status, 0, "\(resumed.errors)")
            #expect(resumed.errors.hasPrefix("Going on with the journal \(home.path("new.csv")).journal."))
            expectNoDifference(Set(home.values("Id")), Set((1...200).map { "\($0)" }))
            expectNoDifference(home.members.count, 200, "each row once")
            #expect(!home.exists("new.csv.journal"))
        }
    }

    @Test func anInterruptionLetsWhatWasSentEnd() async throws {
        try await Home.withMembers(0) { home in
            // More than can be written before the signal arrives.
            try home.write(Self.people + Self.rows(1...20_000), to: "new.csv")
            home.sandbox.inject(.holdAnswer, on: .createRecord, skipping: 10)
            let stopped = try await home.fmdata(["import", "Members", home.path("new.csv")], endingBy: SIGINT) {
                await home.sandbox.untilAnswersHeld()
            } afterwards: {
                home.sandbox.releaseAnswers()
            }
            expectNoDifference(stopped.status, 130)
            let count = home.members.count
            expectNoDifference(
                stopped,
                FinishedProgram(
                    status: 130,
                    output: "{\"created\":\(count),\"updated\":0,\"rejected\":0,\"unknown\":0,\"unsent\":0}\n",
                    errors: "The same command goes on with the rest.\n"
                )
            )
            #expect(count > 10 && count < 20_000)
            #expect(home.sandbox.sessions.isEmpty)
        }
    }
}
