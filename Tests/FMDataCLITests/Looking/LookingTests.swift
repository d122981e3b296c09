import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// The commands that look, from end to end.
@Suite(.timeLimit(.minutes(15))) struct LookingTests {
    // MARK: Lists

    @Test func databases() async throws {
        try await Home.with { home in
            expect(try await home.asAdmin.fmdata("databases"), "{\"database\":\"World\"}\n")
            // The host shows none to somebody without an account, and an empty list would look like the answer.
            for (variables, missing) in [
                ([:], "Which user? Give --user, or set FM_USER."),
                (["FM_USER": "admin"], "The password of admin is missing: "),
            ] as [([String: String], String)] {
                let home = home.setting(["FM_HOST": home.sandbox.url]).setting(variables)
                let unknown = try await home.fmdata("databases", "--csv")
                #expect(unknown.status == 64, "\(unknown)")
                #expect(unknown.errors.hasPrefix("Error: \(missing)"), "\(unknown.errors)")
                expectNoDifference(unknown.output, "")
            }
        }
        try await Home.with(.init { $0.filtersDatabases = false }) { home in
            expect(
                try await home.setting(["FM_HOST": home.sandbox.url]).fmdata("databases", "--csv"),
                "database\r\nWorld\r\n"
            )
        }
    }

    @Test func layouts() async throws {
        try await Home.with { home in
            expect(
                try await home.asAdmin.fmdata("layouts", "--table"),
                """
                layout                     table
                -------------------------  --------
                Countries                  Country
                Zones                      Zones
                Contacts                   Contacts
                Phones                     Phones
                Admin/
                  Names / 100 % Übersicht  Contacts

                """
            )
            let lines = try await home.asAdmin.fmdata("layouts").output.split(separator: "\n")
            expectNoDifference(
                lines.last,
                #"{"layout":"Names / 100 % Übersicht","table":"Contacts","folder":["Admin"]}"#
            )
            #expect(try await home.asAdmin.fmdata("layouts", "--csv").output.hasSuffix(",Contacts,Admin\r\n"))
        }
    }

    @Test func scripts() async throws {
        try await Home.with { home in
            let names = try await home.asAdmin.fmdata("scripts", "--table")
            #expect(names.output.hasPrefix("script\n---"), "\(names.output)")
            #expect(names.output.contains("\nEcho\n"))
            #expect(!names.output.contains("\n-\n"), "no line of the menu")
        }
    }

    @Test func fields() async throws {
        try await Home.with { home in
            let table = try await home.asAdmin.fmdata("fields", "Contacts", "--table").output
            for line in [
                "Status      text       normal                 Statuses",
                "Label       text       calculation",
                "gFilter     text       normal                            global",
            ] {
                #expect(table.split(separator: "\n").contains { $0.hasPrefix(line) }, "\(line)\n\(table)")
            }
            let line = try await home.asAdmin.fmdata("fields", "Contacts").output.split(separator: "\n")
                .first { $0.contains("Nicknames") }
            #expect(line?.contains(#""repetitions":3,"shown":[1,3]"#) == true, "\(line ?? "")")
        }
    }

    @Test func portals() async throws {
        try await Home.with { home in
            let table = try await home.asAdmin.fmdata("portals", "Contacts", "--csv").output
            expectNoDifference(
                table.split(separator: "\r\n").map(String.init),
                [
                    "portal,field,type,kind,shown,valueList,flags", "Phones,Phones::Kind,text,normal,,Kinds,",
                    "Phones,Phones::Number,text,normal,,,",
                ]
            )
        }
    }

    @Test func valueLists() async throws {
        try await Home.with { home in
            let list = try await home.asAdmin.fmdata("valuelists", "Contacts", "Statuses", "--csv").output
            expectNoDifference(
                list,
                "list,value,shown\r\nStatuses,new,new\r\nStatuses,active,active\r\nStatuses,paused,paused\r\n"
                    + "Statuses,closed,closed\r\n"
            )
            let wrong = try await home.asAdmin.fmdata("valuelists", "Contacts", "Status")
            #expect(wrong.status == 1)
            #expect(
                wrong.errors.hasPrefix("Error: The layout \"Contacts\" uses no value list \"Status\". Did you mean")
            )
        }
    }

    // MARK: Records

    @Test(.thorough) func recordsInAllForms() async throws {
        try await Home.with { home in
            let arguments = ["find", "Contacts", "City=London", "--fields", "Name,Balance,Birthday,WakeUp,CreatedAt"]
            func find(_ form: String...) async throws -> String {
                try await FinishedProgram.run(
                    arguments + form,
                    environment: ["HOME": home.folder.path].merging(home.asAdmin.environment) { $1 }
                ).output
            }
            let object =
                #"{"recordId":1,"modId":0,"fieldData":{"Name":"Ada Lovelace","Balance":1815.12,"Birthday":"1815-12-10","#
                + #""WakeUp":"06:30:00","CreatedAt":"2024-01-02T09:00:00"}}"#
            let ndjson = try await find()
            expectNoDifference(ndjson, object + "\n")
            let json = try await find("--json")
            expectNoDifference(json, "[\n\(object)\n]\n")
            let csv = try await find("--csv")
            expectNoDifference(
                csv,
                "recordId,modId,Name,Balance,Birthday,WakeUp,CreatedAt\r\n"
                    + "1,0,Ada Lovelace,1815.12,1815-12-10,06:30:00,2024-01-02T09:00:00\r\n"
            )
            let table = try await find("--table")
            expectNoDifference(
                table,
                """
                recordId  modId  Name          Balance  Birthday    WakeUp    CreatedAt
                --------  -----  ------------  -------  ----------  --------  -------------------
                       1      0  Ada Lovelace  1815.12  1815-12-10  06:30:00  2024-01-02T09:00:00

                """
            )
        }
    }

    @Test(.thorough) func conditionsOrderAndLimits() async throws {
        try await Home.with { home in
            func names(_ arguments: String...) async throws -> [String] {
                let finished = try await FinishedProgram.run(
                    ["find"] + arguments + ["--csv"],
                    environment: ["HOME": home.folder.path].merging(home.asAdmin.environment) { $1 }
                )
                #expect(finished.status == 0, "\(finished.errors)")
                return finished.output.split(separator: "\r\n").dropFirst()
                    .compactMap { $0.split(separator: ",").last.map(String.init) }
            }
            let born = try await names("Contacts", "Birthday=1706...1906", "--sort=-Name", "--fields", "Name")
            expectNoDifference(born, ["Grace Hopper", "Émilie du Châtelet", "Ada Lovelace"])
            let others = try await names("Contacts", "--omit", "City=London", "--fields", "Name")
            expectNoDifference(others, ["Émilie du Châtelet", "Grace Hopper"])
            let either = try await names(
                "Contacts",
                "City=Paris",
                "--or",
                "City^=New",
                "--sort",
                "Name",
                "--fields",
                "Name"
            )
            expectNoDifference(either, ["Émilie du Châtelet", "Grace Hopper"])
            let part = try await names(
                "Countries",
                "--sort",
                "-Code",
                "--offset",
                "2",
                "--limit",
                "2",
                "--fields",
                "Code"
            )
            expectNoDifference(part, ["ZM", "ZA"])
            let behind = try await names("Countries", "--offset", "1000", "--fields", "Code")
            expectNoDifference(behind, [])
            let all = try await names("Countries", "--all", "--fields", "Code")
            #expect(all.count == 249)
            #expect(Set(all).count == 249)
        }
    }

    @Test(.thorough) func whatIsNotPrintedIsSaid() async throws {
        try await Home.with { home in
            let some = try await home.asAdmin.fmdata("find", "Countries", "--limit", "2", "--fields", "Code")
            #expect(some.errors == "2 of 249 records: --all prints all of them.\n")
            let quiet = try await home.asAdmin.fmdata(
                "find",
                "Countries",
                "--limit",
                "2",
                "--fields",
                "Code",
                "--quiet"
            )
            #expect(quiet.errors == "")
            let none = try await home.asAdmin.fmdata("find", "Countries", "Code=QQ", "--json")
            expect(none, "[]\n")
            let status = try await home.asAdmin.fmdata("find", "Countries", "Code=QQ", "--exit-status", "--csv")
            expect(status, "recordId,modId,Code,Name,ZoneCount\r\n", status: 3)
        }
    }

    @Test(.thorough) func oneRecord() async throws {
        try await Home.with { home in
            let get = try await home.asAdmin.fmdata(
                "get",
                "Contacts",
                "1",
                "--fields",
                "Name,Notes,Nicknames",
                "--portals",
                "Phones",
                "--table"
            )
            expect(
                get,
                """
                recordId      1
                modId         0
                Name          Ada Lovelace
                Notes         First line
                              Second line
                Nicknames(1)  Countess
                Nicknames(2)  Enchantress of Numbers
                Nicknames(3)
                Phones
                  recordId  modId  Kind  Number
                  --------  -----  ----  ----------------
                  1         0      work  +44 20 7946 0001
                  2         0      home  +44 20 7946 0002

                """
            )
            let json = try await home.asAdmin.fmdata(
                "get",
                "Contacts",
                "3",
                "--fields",
                "Name",
                "--portals",
                "Phones:1"
            )
            expect(
                json,
                #"{"recordId":3,"modId":0,"fieldData":{"Name":"Grace Hopper"},"portalData":{"Phones":[{"recordId":3,"#
                    + #""modId":0,"Phones::Kind":"mobile","Phones::Number":"+1 212 555 0142"}]}}"# + "\n"
            )
            let more = try await home.asAdmin.fmdata(
                "get",
                "Contacts",
                "1",
                "--fields",
                "Name",
                "--portals",
                "Phones:1"
            )
            #expect(more.errors == "The portal \"Phones\" has more rows than were printed: --portals 'Phones:1000'.\n")
            let csv = try await home.asAdmin.fmdata("get", "Contacts", "1", "--portals", "Phones", "--csv")
            #expect(csv.status == 64)
        }
    }

    @Test func aFindIsExplained() async throws {
        try await Home.with { home in
            let explained = try await home.asAdmin.fmdata("find", "Contacts", "City=Cal*", "--explain")
            #expect(explained.output.contains(#"==Cal\\*"#), "\(explained.output)")
            #expect(home.sandbox.counters.requests[.find] == nil)
            let none = try await home.asAdmin.fmdata("find", "Contacts", "--explain")
            expect(none, "There is no condition, so a range of all records is read.\n")
        }
    }

    /// The URL of a container is good for everybody who has it.
    @Test(.thorough) func theKeyOfAContainerIsNotPrinted() async throws {
        try await Home.with { home in
            try Data("bow".utf8).write(to: home.file("bow.jpg"))
            let put = try await home.asAdmin.fmdata(
                "container",
                "put",
                "Contacts",
                "1",
                "Photo",
                home.file("bow.jpg").path
            )
            #expect(put.status == 0, "\(put.errors)")
            for form in ["--json", "--csv", "--table", "--ndjson"] {
                let get = try await home.asAdmin.fmdata("get", "Contacts", "1", "--fields", "Photo", form)
                #expect(get.output.contains("[container .jpg]"), "\(get.output)")
                #expect(!get.output.contains("Streaming"), "\(get.output)")
            }
        }
    }

    @Test func readsThatFailInPassingAreAskedAgain() async throws {
        try await Home.with { home in
            home.sandbox.inject(.html(status: 502), on: .layoutMetadata)
            home.sandbox.inject(.html(status: 502), on: .getRecords)
            let found = try await home.asAdmin.fmdata("find", "Phones", "--fields", "Kind", "--csv")
            #expect(found.status == 0, "\(found.errors)")
            #expect(found.output.hasPrefix("recordId,modId,Kind\r\n1,0,work\r\n"), "\(found.output)")
            expectNoDifference(home.sandbox.counters.requests[.layoutMetadata], 2)
            expectNoDifference(home.sandbox.counters.requests[.getRecords], 2)
            home.sandbox.inject(.reset, on: .find)
            home.sandbox.inject(.html(status: 503), on: .getRecord)
            home.sandbox.inject(.html(status: 504), on: .scripts)
            for arguments in [["find", "Contacts", "City=Paris"], ["get", "Contacts", "1"], ["scripts"]] {
                let read = try await FinishedProgram.run(
                    arguments,
                    environment: ["HOME": home.folder.path].merging(home.asAdmin.environment) { $1 }
                )
                #expect(read.status == 0, "\(arguments): \(read.errors)")
            }
            home.sandbox.inject(.html(status: 502), on: .layouts)
            let request = try await home.asAdmin.fmdata("request", "GET", "layouts")
            #expect(request.status == 0, "\(request.errors)")
        }
    }

    // MARK: Mistakes

    @Test(.thorough) func theNearestNamesAreTold() async throws {
        try await Home.with { home in
            for (arguments, status, text) in [
                (["find", "Contatcs"], 1, #"Hint: Did you mean "Contacts"?"#),
                (["find", "Contacts", "Ctiy=x"], 1, #"shows no field "Ctiy". Did you mean "City"?"#),
                (["find", "Contacts", "--sort", "Nmae"], 1, #"shows no field "Nmae". Did you mean "Name"?"#),
                (["find", "Contacts", "--fields", "Emial"], 1, #"shows no field "Emial". Did you mean "Email"?"#),
                (["find", "Contacts", "--portals", "Phnoes"], 1, #"shows no portal "Phnoes". Did you mean "Phones"?"#),
                (["find", "Contacts", "--limt", "3"], 64, "Unknown option '--limt'. Did you mean '--limit'?"),
                (["find", "Contacts", "--fields", "Phones::Kind"], 64, "is in a portal: --portals prints its rows."),
                (["script", "Contacts", "Ehco"], 1, #"Hint: Did you mean "Echo"?"#),
                (["find", "Contacts", "Birthday=soon"], 64, "Birthday: expected a date such as 2026-11-01"),
                (["find", "Contacts", "--all", "--limit", "3"], 64, "--all excludes --limit and --offset."),
                (["find", "Contacts", "--limit", "0"], 64, "--limit and --offset take 1 or more."),
                (["find", "Contacts", "--limit", "-1"], 64, "--limit and --offset take 1 or more."),
                (["find", "Contacts", "--offset", "-1"], 64, "--limit and --offset take 1 or more."),
                (["find", "Contacts", "--json", "--csv"], 64, "Only one of --json, --ndjson, --csv and --table."),
                (["get", "Contacts", "999"], 1, "101"),
                (["get", "Contacts", "x"], 64, "The value 'x' is invalid for '<record-id>'"),
            ] as [([String], Int32, String)] {
                let finished = try await FinishedProgram.run(
                    arguments,
                    environment: ["HOME": home.folder.path].merging(home.asAdmin.environment) { $1 }
                )
                #expect(finished.status == status, "\(arguments): \(finished.errors)")
                #expect(finished.errors.contains(text), "\(arguments): \(finished.errors)")
                #expect(finished.output == "")
            }
        }
    }

    @Test func errorsAreJSONWhereJSONWasAskedFor() async throws {
        try await Home.with { home in
            let missing = try await home.asAdmin.fmdata("get", "Contacts", "999", "--json")
            #expect(missing.status == 1)
            #expect(
                missing.errors.hasPrefix(#"{"error":{"kind":"fileMaker","code":101,"message":"Record is missing"#),
                "\(missing.errors)"
            )
            #expect(missing.errors.contains(#","layout":"Contacts","recordId":999,"#), "\(missing.errors)")
            #expect(
                missing.errors.contains(
                    #""hint":"No record of the layout's table has this id, or the account may not see it.""#
                ),
                "\(missing.errors)"
            )
            #expect(missing.errors.hasSuffix(#""outcomeUnknown":false,"status":1}}"# + "\n"), "\(missing.errors)")
            let field = try await home.asAdmin.fmdata("find", "Contacts", "Ctiy=x", "--ndjson")
            expect(
                field,
                "",
                errors: #"{"error":{"kind":"command","message":"The layout \"Contacts\" shows no field \"Ctiy\". "#
                    + #"Did you mean \"City\"?","status":1}}"# + "\n",
                status: 1
            )
            let host = try await home.fmdata("layouts", "--json")
            #expect(host.status == 64)
            #expect(host.errors.hasPrefix(#"{"error":{"kind":"usage","message":"Which host? Give --host"#))
        }
    }

    /// A part must not look like the whole.
    @Test func anArrayThatIsCutHasNoEnd() async throws {
        try await Home.with { home in
            home.sandbox.inject(.cut(afterBodyBytes: 4_000), on: .find)
            let cut = try await home.asAdmin.fmdata("find", "Countries", "Code!=", "--json")
            #expect(cut.status == 5, "\(cut.errors)")
            #expect(!cut.output.hasSuffix("]\n"))
        }
    }
}
