import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

/// `fmdata diff` from end to end.
@Suite(.timeLimit(.minutes(15))) struct DiffTests {
    @Test(.thorough, arguments: ["csv", "ndjson", "json"])
    func aPlaceAndAnExport(_ form: String) async throws {
        try await Home.withMembers(4) { home in
            let path = home.path("old.\(form)")
            #expect(try await home.fmdata("export", "Members", "-o", path).status == 0)
            let equal = try await home.fmdata("diff", path, ".", "Members", "--key", "Id")
            expectNoDifference(equal, FinishedProgram(status: 0, output: "", errors: ""))

            let (table, database) = ("Members", "Single")
            try home.sandbox.editRecord(1, ["City": "Oslo", "Balance": "0.50"], ofTable: table, inDatabase: database)
            try home.sandbox.editRecord(2, ["Balance": "2"], ofTable: table, inDatabase: database)
            try home.sandbox.deleteRecord(3, ofTable: table, inDatabase: database)
            _ = try home.sandbox.createRecord(["Id": "9"], ofTable: table, inDatabase: database)
            let finished = try await home.fmdata("diff", path, ".", "Members", "--key", "Id", "--csv")
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 3,
                    output: """
                        change,key,field,from,to\r
                        changed,1,City,Bath,Oslo\r
                        changed,1,Label,Member 1 of Bath,Member 1 of Oslo\r
                        changed,2,Balance,1.5,2\r
                        added,9,,,\r
                        removed,3,,,\r

                        """,
                    errors: ""
                )
            )
            let back = try await home.fmdata("diff", ".", path, "Members", "--key", "Id", "--fields", "City")
            expectNoDifference(
                back.output.split(separator: "\n").map(String.init),
                [
                    #"{"change":"changed","key":"1","field":"City","from":"Oslo","to":"Bath"}"#,
                    #"{"change":"added","key":"3"}"#, #"{"change":"removed","key":"9"}"#,
                ]
            )
        }
    }

    /// A record goes back to where it was exported from.
    @Test(arguments: ["csv", "ndjson"]) func byTheIdOfTheRecord(_ form: String) async throws {
        try await Home.withMembers(3) { home in
            let path = home.path("old.\(form)")
            #expect(try await home.fmdata("export", "Members", "-o", path).status == 0)
            try home.sandbox.editRecord(2, ["City": "Oslo"], ofTable: "Members", inDatabase: "Single")
            let finished = try await home.fmdata(
                "diff",
                path,
                ".",
                "Members",
                "--key",
                "recordId",
                "--fields",
                "City",
                "--ndjson"
            )
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 3,
                    output: #"{"change":"changed","key":"2","field":"City","from":"Lyon","to":"Oslo"}"# + "\n",
                    errors: ""
                )
            )
        }
    }

    @Test(.thorough) func twoProfiles() async throws {
        try await Home.withMembers(3) { home in
            try await Home.with(solutions: [.members(3)]) { other in
                for (name, place) in [("here", home), ("there", other)] {
                    let login = try await home.setting(["FM_HOST": place.sandbox.url]).fmdata("login", name)
                    #expect(login.status == 0, "\(login.errors)")
                }
                try other.sandbox.editRecord(2, ["City": "Oslo"], ofTable: "Members", inDatabase: "Single")
                let finished = try await home.fmdata("diff", "here", "there", "Members", "--key", "Id", "City!=Bath")
                expectNoDifference(
                    finished,
                    FinishedProgram(
                        status: 3,
                        output: #"{"change":"changed","key":"2","field":"City","from":"Lyon","to":"Oslo"}"# + "\n"
                            + #"{"change":"changed","key":"2","field":"Label","from":"Member 2 of Lyon","#
                            + #""to":"Member 2 of Oslo"}"# + "\n",
                        errors: ""
                    )
                )
                let schema = try await home.fmdata("diff", "here", "there", "Members", "--schema")
                expectNoDifference(schema, FinishedProgram(status: 0, output: "", errors: ""))
            }
        }
    }

    @Test(.thorough) func layoutsThatDiffer() async throws {
        try await Home.withMembers(0) { home in
            let solution = Solution.single(
                "Members",
                fields: [.init("Id"), .init("Name")],
                layoutFields: ["Id", "Name"]
            )
            try await Home.with(solutions: [solution]) { other in
                for (name, place) in [("here", home), ("there", other)] {
                    _ = try await home.setting(["FM_HOST": place.sandbox.url]).fmdata("login", name)
                }
                let finished = try await home.fmdata("diff", "here", "there", "Members", "--schema")
                expectNoDifference(finished.status, 3)
                #expect(finished.output.hasPrefix("Members:\n"), "\(finished.output)")
                #expect(finished.output.contains("\"City\""), "\(finished.output)")
            }
        }
    }

    @Test(.thorough) func whatIdentifiesNothing() async throws {
        try await Home.withMembers(3) { home in
            try home.write("City,Name\nBath,x\nBath,y\n", to: "a.csv")
            try home.write("Name\nx\n", to: "b.csv")
            for (file, key, message) in [
                ("a.csv", "City", "Several records have the same City"), ("b.csv", "City", "has no field \"City\""),
                ("c.csv", "City", "There is no file"), ("b.sql", "City", "no file"),
            ] {
                let finished = try await home.fmdata("diff", home.path(file), ".", "Members", "--key", key)
                #expect(finished.status != 0 && finished.status != 3, "\(finished.errors)")
                #expect(finished.errors.contains(message), "\(finished.errors)")
            }
            #expect(try await home.fmdata("diff", ".", home.path("a.csv"), "Members").status == 64)
            #expect(try await home.fmdata("diff", ".", ".", "Members", "--key", "Id").status == 64)
        }
    }
}
