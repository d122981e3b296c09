import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata export` from end to end.
@Suite(.timeLimit(.minutes(15))) struct ExportTests {
    // MARK: Forms

    @Test(.thorough) func allForms() async throws {
        try await Home.with { home in
            let home = home.asAdmin
            func export(_ arguments: String...) async throws -> FinishedProgram {
                try await FinishedProgram.run(
                    ["export", "Contacts", "City=London", "--fields", "Name,Balance,Birthday,Photo"] + arguments,
                    environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
                )
            }
            let object =
                #"{"recordId":1,"modId":0,"fieldData":{"Name":"Ada Lovelace","Balance":1815.12,"#
                + #""Birthday":"1815-12-10","Photo":""}}"#
            expectNoDifference(awaited: try await export().output, object + "\n")
            expectNoDifference(awaited: try await export("--json").output, "[\n\(object)\n]\n")
            expectNoDifference(
                awaited: try await export("--csv").output,
                "recordId,modId,Name,Balance,Birthday,Photo\r\n1,0,Ada Lovelace,1815.12,1815-12-10,\r\n"
            )
            expectNoDifference(
                awaited: try await export("--sql").output,
                """
                BEGIN;
                CREATE TABLE "Contacts" ("recordId" INTEGER PRIMARY KEY, "modId", "Name" TEXT, "Balance", \
                "Birthday" TEXT, "Photo" TEXT);
                INSERT INTO "Contacts" VALUES (1, 0, 'Ada Lovelace', 1815.12, '1815-12-10', NULL);
                COMMIT;

                """
            )
            let nothing = try await home.fmdata("export", "Contacts", "City=Nowhere", "--json")
            expectNoDifference(nothing, FinishedProgram(status: 0, output: "[\n]\n", errors: ""))
        }
    }

    @Test(.thorough) func theNameOfTheFileSaysTheForm() async throws {
        try await Home.withMembers(3) { home in
            for (name, begin) in [
                ("a.csv", "recordId,"), ("a.json", "[\n{"), ("a.sql", "BEGIN;"), ("a.ndjson", "{\"record"),
            ] {
                let finished = try await home.fmdata("export", "Members", "-o", home.path(name))
                expectNoDifference(
                    finished,
                    FinishedProgram(status: 0, output: "", errors: "3 records are in \(home.path(name)).\n")
                )
                #expect(home.text(name)?.hasPrefix(begin) == true, "\(home.text(name) ?? "")")
                #expect(!home.exists(name + ".part") && !home.exists(name + ".part.json"))
            }
            let again = try await home.fmdata("export", "Members", "-o", home.path("a.csv"))
            #expect(again.status == 1 && again.errors.contains("--force"), "\(again.errors)")
            #expect(try await home.fmdata("export", "Members", "-o", home.path("a.csv"), "--force").status == 0)
            #expect(home.sandbox.sessions.isEmpty)
        }
    }

    @Test func whatSpreadsheetsAndSQLWouldMisread() {
        func text(_ form: ExportForm, _ cells: [String], safe: Bool = false, feeds: Bool = false) -> String {
            ExportText(
                form: form,
                columns: [
                    OutputColumn("recordId", isNumber: true), OutputColumn("N", isNumber: true), OutputColumn("n"),
                ],
                table: "a \"b\"",
                isExcelSafe: safe,
                usesLineFeeds: feeds
            )
            .row(cells: cells, object: .null, isFirst: true)
        }
        expectNoDifference(text(.csv, ["1", "-2.5", "=A1"], safe: true), "1,-2.5,'=A1\r\n")
        expectNoDifference(text(.csv, ["1", "", "=A1\rx"]), "1,,\"=A1\rx\"\r\n")
        expectNoDifference(text(.csv, ["1", "", "a\rb"], feeds: true), "1,,\"a\nb\"\r\n")
        expectNoDifference(
            text(.sql, ["1", "9007199254740993", "it's\u{0}"]),
            "INSERT INTO \"a \"\"b\"\"\" VALUES (1, 9007199254740993, 'it''s' || char(0) || '');\n"
        )
        // The shell of SQLite takes a carriage return off the end of each line, even within a text.
        expectNoDifference(
            text(.sql, ["1", "2", "a\r\nb\rc\nd\r\n"]),
            "INSERT INTO \"a \"\"b\"\"\" VALUES (1, 2, replace('a\u{E000}\nb\rc\nd\u{E000}\n', '\u{E000}', char(13)));\n"
        )
        #expect(text(.sql, ["1", "2", "\u{E000}\r\n"]).contains("replace('\u{E000}\u{E001}\n', '\u{E001}', char(13))"))
        // A quote and the accent behind it are one character.
        #expect(text(.sql, ["1", "2", "'\u{301}"]).contains("(1, 2, '''\u{301}')"))
        // More digits than SQLite's numbers have.
        #expect(text(.sql, ["1", "1.2345678901234567", ""]).contains("'1.2345678901234567', NULL"))
        expectNoDifference(
            SQLText.declarations([OutputColumn("recordId", isNumber: true), OutputColumn("a"), OutputColumn("A")]),
            "\"recordId\" INTEGER PRIMARY KEY, \"a\" TEXT, \"A_2\" TEXT"
        )
    }

    @Test(.thorough) func theKeyOfAContainerIsNeverWritten() async throws {
        try await Home.withMembers(1) { home in
            try Data("a picture".utf8).write(to: home.file("a.png"))
            #expect(try await home.fmdata("container", "put", "Members", "1", "Photo", home.path("a.png")).status == 0)
            for form in ["--csv", "--json", "--ndjson", "--sql"] {
                let finished = try await home.fmdata("export", "Members", form)
                #expect(finished.output.contains("[container .png]"), "\(finished.output)")
                #expect(!finished.output.contains("http"), "\(finished.output)")
            }
        }
    }

    @Test(.thorough) func whatMakesNoSense() async throws {
        try await Home.withMembers(1) { home in
            for arguments in [
                ["--csv", "--json"], ["--key", "Id", "--sort", "Name"], ["--resume"],
                ["--resume", "--key", "Id"], ["Nam=x"], ["--key", "Nope"], ["--portals", "X", "--csv"],
            ] {
                let finished = try await FinishedProgram.run(
                    ["export", "Members"] + arguments,
                    environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
                )
                #expect(finished.status == 64 || finished.status == 1, "\(arguments) \(finished.errors)")
                #expect(finished.output.isEmpty && finished.errors.hasPrefix("Error: "), "\(finished.errors)")
            }
        }
    }

    // MARK: What is no file

    @Test func aPipeIsWrittenInto() async throws {
        try await Home.withMembers(2) { home in
            let path = home.path("pipe")
            try #require(mkfifo(path, 0o600) == 0)
            // With both ends open, neither side waits for the other.
            let pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            defer { close(pipe) }
            func received() -> String {
                var bytes = [UInt8](repeating: 0, count: 4096)
                return String(decoding: bytes[..<max(0, read(pipe, &bytes, bytes.count))], as: UTF8.self)
            }
            for options in [["--force"], ["--key", "Id"], []] {
                let finished = try await FinishedProgram.run(
                    ["export", "Members", "--csv", "--fields", "Id", "-o", path] + options,
                    environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
                )
                #expect(finished.status == 0, "\(finished.errors)")
                expectNoDifference(received(), "recordId,modId,Id\r\n1,0,1\r\n2,0,2\r\n")
            }
            try home.write("Id,Name\nx,a\n", to: "some.csv")
            let imported = try await home.fmdata("import", "Members", home.path("some.csv"), "--rejects", path)
            #expect(imported.status == 2, "\(imported.errors)")
            #expect(received().hasPrefix("Id,Name,_line"))
            // The same run has no row to refuse now, and removes only what is a file.
            try home.write("Id,Name\n7,a\n", to: "some.csv")
            #expect(try await home.fmdata("import", "Members", home.path("some.csv"), "--rejects", path).status == 0)
            try Data("a picture".utf8).write(to: home.file("a.png"))
            #expect(try await home.fmdata("container", "put", "Members", "1", "Photo", home.path("a.png")).status == 0)
            let got = try await home.fmdata("container", "get", "Members", "1", "Photo", "-o", path, "--force")
            #expect(got.status == 1 && got.errors.contains("-o -"), "\(got.errors)")
            var info = stat()
            #expect(lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFIFO)
            #expect(!home.exists("pipe.part"))
        }
    }

    @Test func theTargetOfALinkIsWritten() async throws {
        try await Home.withMembers(1) { home in
            let (link, file) = (home.path("link.csv"), home.path("file.csv"))
            try home.write("old", to: "file.csv")
            #expect(chmod(file, 0o600) == 0)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file.csv")
            #expect(try await home.fmdata("export", "Members", "--fields", "Id", "-o", link).status == 1)
            expectNoDifference(home.text("file.csv"), "old")
            let finished = try await home.fmdata("export", "Members", "--fields", "Id", "-o", link, "--force")
            #expect(finished.status == 0, "\(finished.errors)")
            expectNoDifference(try FileManager.default.destinationOfSymbolicLink(atPath: link), "file.csv")
            expectNoDifference(home.text("file.csv"), "recordId,modId,Id\r\n1,0,1\r\n")
            expectNoDifference(try home.mode("file.csv"), 0o600)
            try FileManager.default.removeItem(atPath: file)
            let dangling = try await home.fmdata("export", "Members", "-o", link, "--force")
            #expect(dangling.status == 1 && dangling.errors.contains("leads nowhere"), "\(dangling.errors)")
            #expect(!home.exists("file.csv"))
            let folder = try await home.fmdata("export", "Members", "-o", home.folder.path, "--force")
            #expect(folder.status == 1 && folder.errors.contains("is a folder"), "\(folder.errors)")
        }
    }

    @Test func aPartIsNotWrittenThroughALink() async throws {
        try await Home.withMembers(1) { home in
            let (part, path) = (home.path("out.csv.part"), home.path("out.csv"))
            try home.write("precious", to: "file")
            try FileManager.default.createSymbolicLink(atPath: part, withDestinationPath: "file")
            let linked = try await home.fmdata("export", "Members", "-o", path)
            #expect(linked.status == 1 && linked.errors.contains("out.csv.part is a link"), "\(linked.errors)")
            unlink(part)
            try #require(link(home.path("file"), part) == 0)
            let twice = try await home.fmdata("export", "Members", "-o", path)
            #expect(twice.status == 1 && twice.errors.contains("out.csv.part"), "\(twice.errors)")
            expectNoDifference(home.text("file"), "precious")
            unlink(part)
            // A part that a killed run has left is its own.
            try home.write("half", to: "out.csv.part")
            #expect(try await home.fmdata("export", "Members", "--fields", "Id", "-o", path).status == 0)
            expectNoDifference(home.text("out.csv"), "recordId,modId,Id\r\n1,0,1\r\n")
        }
    }

    // MARK: Streams

    @Test(.thorough) func aReaderThatLeavesEndsIt() async throws {
        try await Home.withMembers(20_000) { home in
            let (reading, writing) = try ChildProcess.pipe()
            try reading.close()
            let finished = try await FinishedProgram.run(
                ["export", "Members"],
                environment: ["HOME": home.folder.path].merging(home.environment) { $1 },
                output: writing
            )
            expectNoDifference(finished, FinishedProgram(status: 141, output: "", errors: ""))
            let pages = home.sandbox.counters.requests[.getRecords, default: 0]
            #expect(try await home.fmdata("export", "Members", "-o", home.path("all.csv")).status == 0)
            let allPages = home.sandbox.counters.requests[.getRecords, default: 0] - pages
            #expect(pages < allPages, "\(pages) of \(allPages)")
            #expect(home.sandbox.sessions.isEmpty)
        }
    }

    // MARK: Trouble

    /// A page whose answer is lost is read again, also one of which a part has arrived.
    @Test func aPageThatFailsInPassingIsReadAgain() async throws {
        try await Home.withMembers(1500) { home in
            home.sandbox.inject(.html(status: 502), on: .getRecords)
            home.sandbox.inject(.cut(afterBodyBytes: 4_000), on: .getRecords, skipping: 1)
            let finished = try await home.fmdata("export", "Members", "--fields", "Id")
            #expect(finished.status == 0, "\(finished.errors)")
            let lines = finished.output.split(separator: "\n")
            expectNoDifference(lines.count, 1500)
            expectNoDifference(Set(lines).count, 1500)
        }
    }

    /// What another program would read as a workbook is not JSON.
    @Test func aFormThatIsNotKnownIsRefused() async throws {
        try await Home.withMembers(1) { home in
            let book = try await home.fmdata("export", "Members", "-o", home.path("a.xlsx"))
            expectNoDifference(book.status, 64)
            #expect(book.errors.hasPrefix("Error: \(home.path("a.xlsx")): "), "\(book.errors)")
            #expect(book.errors.contains(".ndjson, .csv, .json or .sql"), "\(book.errors)")
            #expect(!home.exists("a.xlsx"))
            expectNoDifference(home.sandbox.counters.logins, 0)
            #expect(try await home.fmdata("export", "Members", "-o", home.path("a.txt"), "--csv").status == 0)
            #expect(try await home.fmdata("export", "Members", "-o", home.path("a")).status == 0)
        }
    }

    // MARK: What is not complete

    @Test(.thorough, arguments: ["--json", "--csv", "--sql"])
    func aFailureLeavesNothingThatLooksComplete(_ form: String) async throws {
        try await Home.withMembers(1500) { home in
            func fail() {
                home.sandbox.inject(.error(.scriptMissing), on: .getRecords, skipping: 1, count: nil)
            }
            fail()
            let piped = try await home.fmdata("export", "Members", form, "--fields", "Id")
            #expect(piped.status == 1, "\(piped.errors)")
            #expect(!piped.output.hasSuffix("]\n") && !piped.output.contains("COMMIT"))
            home.sandbox.clearFaults()
            fail()
            let filed = try await home.fmdata("export", "Members", form, "-o", home.path("out"))
            #expect(filed.status == 1, "\(filed.errors)")
            #expect(!home.exists("out") && !home.exists("out.part") && !home.exists("out.part.json"))
        }
    }

    @Test(.thorough, arguments: [1, 2])
    func anAnswerThatIsEmptyFalselyIsNoEnd(_ count: Int) async throws {
        try await Home.withMembers(1500) { home in
            home.sandbox.inject(.error(.recordMissing), on: .getRecords, skipping: 2, count: count)
            let finished = try await home.fmdata("export", "Members", "--fields", "Id")
            let lines = finished.output.split(separator: "\n").count
            #expect(
                finished.status == 0 && lines == 1500 || finished.status == 2 && lines < 1500,
                "\(finished.status) \(lines)"
            )
        }
    }

    @Test(.thorough) func aFullDiskIsAnError() async throws {
        try await Home.withMembers(3000) { home in
            let finished = try await FinishedProgram.run(
                ["export", "Members", "-o", home.path("out.csv")],
                environment: ["HOME": home.folder.path].merging(home.environment) { $1 },
                maximumFileBlocks: 64
            )
            #expect(finished.status == 1 && finished.errors.contains("cannot write"), "\(finished.errors)")
            #expect(!home.exists("out.csv"))
        }
    }

    @Test(.thorough) func driftIsReported() async throws {
        try await Home.withMembers(1500) { home in
            home.sandbox.inject(.holdAnswer, on: .getRecords)
            async let finished = home.fmdata("export", "Members", "--fields", "Id")
            await home.sandbox.untilAnswersHeld()
            // Records of the first page, which is answered already.
            for recordId in 1...5 {
                try home.sandbox.deleteRecord(recordId, ofTable: "Members", inDatabase: "Single")
            }
            home.sandbox.releaseAnswers()
            let end = try await finished
            expectNoDifference(end.status, 2)
            #expect(end.errors.hasPrefix("Others have inserted or deleted"), "\(end.errors)")
            let lines = end.output.split(separator: "\n")
            expectNoDifference(Set(lines).count, lines.count)
            #expect((1495...1500).contains(lines.count))
        }
    }

    @Test(.thorough) func withAKeyEachRecordIsWrittenOnce() async throws {
        try await Home.withMembers(1500) { home in
            home.sandbox.inject(.holdAnswer, on: .find, skipping: 2)
            async let finished = home.fmdata("export", "Members", "--key", "Id", "--fields", "Id", "--csv")
            await home.sandbox.untilAnswersHeld()
            for recordId in 1...5 {
                try home.sandbox.deleteRecord(recordId, ofTable: "Members", inDatabase: "Single")
            }
            home.sandbox.releaseAnswers()
            let lines = try await finished.output.split(separator: "\r\n").dropFirst()
            expectNoDifference(
                lines.suffix(1490).map { $0.split(separator: ",").last.map(String.init) },
                (11...1500).map { "\($0)" }
            )
            expectNoDifference(Set(lines).count, lines.count)
        }
    }

    @Test(.thorough) func aTextIsAKeyToo() async throws {
        try await Home.withMembers(1200) { home in
            let path = home.path("out.csv")
            let finished = try await home.fmdata("export", "Members", "--key", "Email", "-o", path)
            #expect(finished.status == 0, "\(finished.errors)")
            let lines = try #require(home.text("out.csv")).split(separator: "\r\n").dropFirst()
            expectNoDifference(Set(lines).count, 1200)
            expectNoDifference(lines.count, 1200)
            let other = home.path("other.csv")
            let resumed = try await home.fmdata("export", "Members", "--key", "Email", "-o", other, "--resume")
            #expect(resumed.status == 64 && resumed.errors.contains("\"Email\" is a text"), "\(resumed.errors)")
        }
    }

    /// Where a key is not unique, records of the last one may have been written and others not.
    @Test(.thorough, arguments: [1, 7]) func anExportGoesOnBehindADate(recordsADay: Int) async throws {
        let first = try #require(FMDate("2020-01-01"))
        let days = (0..<1200).map { first.adding(days: $0 / recordsADay)?.text(.us) ?? "" }
        let solution = Solution.single(
            "Days",
            fields: [
                Solution.Field("Day", .date, validation: .init(unique: recordsADay == 1)), Solution.Field("Name"),
            ],
            layoutFields: ["Day", "Name"],
            records: days.shuffled().map { Solution.Record(["Day": $0, "Name": "on \($0)"]) }
        )
        try await Home.with(solutions: [solution]) { home in
            let home = home.asAdmin.setting(["FM_DATABASE": "Single", "FM_PASSWORD": ""])
            let whole = try await home.fmdata("export", "Days", "--key", "Day", "-o", home.path("whole.csv"))
            #expect(whole.status == 0, "\(whole.errors)")
            let path = home.path("out.csv")
            home.sandbox.inject(.holdAnswer, on: .find, skipping: 3)
            let stopped = try await home.fmdata(["export", "Days", "--key", "Day", "-o", path], endingBy: SIGINT) {
                await home.sandbox.untilAnswersHeld()
            }
            home.sandbox.releaseAnswers()
            #expect(stopped.status == 130 && home.exists("out.csv.part.json"), "\(stopped.errors)")
            let resumed = try await home.fmdata("export", "Days", "--key", "Day", "-o", path, "--resume")
            #expect(resumed.status == 0, "\(resumed.errors)")
            #expect(home.text("out.csv") == home.text("whole.csv"))
            expectNoDifference(home.text("out.csv")?.components(separatedBy: "\r\n").count, 1202)
        }
    }

    @Test func recordsWithoutAKeyAreReported() async throws {
        try await Home.withMembers(3) { home in
            try home.sandbox.editRecord(2, ["Id": ""], ofTable: "Members", inDatabase: "Single")
            let finished = try await home.fmdata("export", "Members", "--key", "Id", "--fields", "Name", "--csv")
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 2,
                    output: "recordId,modId,Name\r\n1,0,Member 1\r\n3,0,Member 3\r\n",
                    errors: "1 records have no Id, and were not written.\n"
                )
            )
        }
    }

    // MARK: Resuming

    @Test(.thorough, arguments: ["csv", "json", "ndjson", "sql"])
    func killedAndResumed(_ form: String) async throws {
        try await Home.withMembers(3000) { home in
            let whole = try await home.fmdata("export", "Members", "--key", "Id", "-o", home.path("whole.\(form)"))
            #expect(whole.status == 0, "\(whole.errors)")
            let path = home.path("out.\(form)")
            home.sandbox.inject(.holdAnswer, on: .find, skipping: 3)
            let killed = try await home.fmdata(["export", "Members", "--key", "Id", "-o", path], endingBy: SIGKILL) {
                await home.sandbox.untilAnswersHeld()
            }
            #expect(killed.status == 128 + SIGKILL)
            home.sandbox.clearFaults()
            home.sandbox.releaseAnswers()
            #expect(!home.exists("out.\(form)") && home.exists("out.\(form).part.json"))
            // The kill may come in the middle of a row.
            let part = try FileHandle(forWritingTo: home.file("out.\(form).part"))
            try part.seekToEnd()
            try part.write(contentsOf: Data("half a row".utf8))
            try part.close()

            let before = home.sandbox.counters.totalRequests
            let other = try await home.fmdata("export", "Members", "City=Bath", "--key", "Id", "-o", path, "--resume")
            #expect(other.status == 1 && other.errors.contains("the conditions changed"), "\(other.errors)")
            let resumed = try await home.fmdata("export", "Members", "--key", "Id", "-o", path, "--resume")
            #expect(resumed.status == 0, "\(resumed.errors)")
            #expect(home.text("out.\(form)") == home.text("whole.\(form)"))
            #expect(!home.exists("out.\(form).part") && !home.exists("out.\(form).part.json"))
            #expect(home.sandbox.counters.totalRequests > before)
        }
    }

    @Test(.thorough) func interruptedAndResumed() async throws {
        try await Home.withMembers(3000) { home in
            let path = home.path("out.csv")
            home.sandbox.inject(.holdAnswer, on: .find, skipping: 3)
            let stopped = try await home.fmdata(["export", "Members", "--key", "Id", "-o", path], endingBy: SIGINT) {
                await home.sandbox.untilAnswersHeld()
            }
            home.sandbox.releaseAnswers()
            expectNoDifference(
                stopped,
                FinishedProgram(
                    status: 130,
                    output: "",
                    errors: "\(path) is incomplete: the same command with --resume goes on.\n"
                )
            )
            // A part that is shorter than noted does not belong to the note.
            let part = try Data(contentsOf: home.file("out.csv.part"))
            try Data(part.prefix(100)).write(to: home.file("out.csv.part"))
            let short = try await home.fmdata("export", "Members", "--key", "Id", "-o", path, "--resume")
            #expect(short.status == 1 && short.errors.contains("Begin anew"), "\(short.errors)")
            try part.write(to: home.file("out.csv.part"))
            #expect(try await home.fmdata("export", "Members", "--key", "Id", "-o", path, "--resume").status == 0)
            expectNoDifference(home.text("out.csv")?.split(separator: "\r\n").count, 3001)
            let nothing = try await home.fmdata(
                "export",
                "Members",
                "--key",
                "Id",
                "-o",
                home.path("new.csv"),
                "--resume"
            )
            #expect(nothing.status == 1 && nothing.errors.contains("no incomplete export"), "\(nothing.errors)")
        }
    }
}
