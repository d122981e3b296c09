import Testing

@testable import FMSandbox

/// Server settings that change the answers of several endpoints.
@Suite(.timeLimit(.minutes(15))) struct ServerSettingsTests {
    @Test(.tags(.openQuestion), arguments: [nil, false, true]) func namesInAnyCaseWhereTheServerIgnoresIt(
        _ ignoresCase: Bool?
    ) async throws {
        try await withBench(configure: { $0.ignoresNameCase = ignoresCase }) { (bench: Bench) async throws in
            func code(_ expected: String) -> String { ignoresCase == true ? "0" : expected }
            #expect(try await bench.get("layouts/CONTACTS/records").code == code("105"))
            #expect(try await bench.get("layouts/contacts").code == code("105"))
            #expect(try await bench.get("layouts/Contacts/script/ECHO").code == code("104"))
            #expect(try await bench.find("Contacts", [["name": "Ada"]]).code == code("102"))
            #expect(try await bench.find("Contacts", [["phones::number": "*555*"]]).code == code("102"))
            let sort: JSONValue = [["fieldName": "STATUS", "sortOrder": "statuses"]]
            #expect(try await bench.find("Contacts", [["Id": "1"]], ["sort": sort]).code == code("102"))
            let edit = try await bench.patch("layouts/Contacts/records/1", ["fieldData": ["city": "Bath"]])
            #expect(edit.code == code("102"))
            let globals = try await bench.patch("globals", ["globalFields": ["contacts::GFILTER": "x"]])
            #expect(globals.code == code("102"))
            let portals = [("portal", #"["PHONES"]"#), ("_limit.phones", "1")]
            let read = try await bench.get("layouts/Contacts/records/1", portals)
            #expect(read.code == code("102"))
            guard ignoresCase == true else { return }
            // The answers have the names as the solution spells them.
            let record = read.response["data"][0]
            #expect(read.response["dataInfo"]["layout"] == "Contacts")
            #expect(record["fieldData"]["City"] == "Bath")
            #expect(record["portalData"]["Phones"].array?.count == 1)
            let deletion = try await bench.patch(
                "layouts/Contacts/records/1",
                ["fieldData": ["deleteRelated": "phones.1"]]
            )
            #expect(deletion.code == "0")
        }
    }

    /// The keys of the layout list, of `validateSession` and of an upload are those of the imitated version.
    @Test(.tags(.openQuestion), arguments: Sandbox.ServerVersion.allCases)
    func answersFollowTheVersion(_ version: Sandbox.ServerVersion) async throws {
        try await withBench(configure: { $0.serverVersion = version }) { (bench: Bench) async throws in
            let layouts = try await bench.get("layouts").response["layouts"][0]
            #expect((layouts["table"].string != nil) == (version >= .v19))
            let session = try await bench.get("/validateSession").response["isSessionInUse"]
            #expect((session != .null) == (version >= .v22))
            let upload = try await bench.upload("layouts/Contacts/records/1/containers/Photo/1?modId=0", [1])
            #expect(upload.response == ["modId": "1"])
        }
    }

    @Test(
        .tags(.recorded),
        arguments: [
            (
                Sandbox.ServerVersion.v18,
                ["name", "buildDate", "version", "dateFormat", "timeFormat", "timeStampFormat"]
            ),
            (.v19, ["name", "buildDate", "version", "dateFormat", "timeFormat", "timeStampFormat"]),
            (.v22, ["name", "dateFormat", "timeFormat", "timeStampFormat"]),
        ]
    )
    func versionsDiffer(_ version: Sandbox.ServerVersion, _ product: [String]) async throws {
        try await withBench(configure: { $0.serverVersion = version }) { (bench: Bench) async throws in
            let info = try await bench.get("/productInfo")
            #expect(info.response["productInfo"].object?.keys == product)
            let layouts = try await bench.get("layouts").response["layouts"]
            #expect(layouts[0].object?.keys == (version == .v18 ? ["name"] : ["name", "table"]))
            #expect(layouts[4].object?.keys == ["name", "isFolder", "folderLayoutNames"])
            let validate = try await bench.get("/validateSession")
            #expect(validate.status == (version == .v18 ? 404 : 200))
            #expect(validate.response == (version == .v22 ? ["isSessionInUse": false] : [:]))
            let formats = try await bench.get("layouts/Contacts/records", [("dateformats", "2")])
            #expect(formats.code == (version == .v18 ? "960" : "0"))
            var other = bench
            other.version = "v2"
            #expect(try await other.get("layouts").status == (version == .v18 ? 404 : 200))
        }
    }
}
