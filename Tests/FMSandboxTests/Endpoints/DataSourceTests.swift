import Testing

@testable import FMSandbox

@Suite struct DataSourceTests {
    private var files: [Solution] {
        var front = Solution.oneTable([.init("Key"), .init("Name")], [.init(["Key": "1", "Name": "one"])])
        front.dataSources = [.init(name: "Store", database: "Back")]
        front.occurrences = [.init(name: "Items", table: "Stock", dataSource: "Store")]
        front.relationships = [.init("T", "Items", matches: [.init("Key", "Key")])]
        front.layouts = [
            .layout(
                .init(
                    name: "L",
                    table: "T",
                    fields: ["Name"],
                    portals: [.init(table: "Items", fields: ["Items::Count"])]
                )
            ),
            .layout(.init(name: "Own", table: "T", fields: ["Name"])),
        ]
        let back = Solution(
            name: "Back",
            tables: [
                .init(
                    name: "Stock",
                    fields: [.init("Key"), .init("Count", .number)],
                    records: [.init(["Key": "1", "Count": "7"])]
                )
            ],
            accounts: [.init(name: "keeper", password: "other")]
        )
        return [front, back]
    }

    @Test func wrongCredentialsComeToLightOnUse() async throws {
        try await withBench(.inProcess, files) { (bench: Bench) async throws in
            #expect(try await bench.get("layouts/Own/records").code == "0")
            let refused = try await bench.get("layouts/L/records")
            #expect(refused.status == 500)
            #expect(refused.code == "212")
            let login: JSONValue = ["fmDataSource": [["database": "Back", "username": "keeper", "password": "other"]]]
            let keeper = try await bench.loggedIn("admin", "secret", login)
            let record = try await keeper.get("layouts/L/records").response["data"][0]
            #expect(record["portalData"]["Items"][0]["Items::Count"] == .int(7))
            #expect(record["portalDataInfo"][0]["database"] == "Back")
        }
    }

    @Test func aFileThatIsNotHostedIsMissingOnUse() async throws {
        try await withBench(.inProcess, [files[0]]) { (bench: Bench) async throws in
            #expect(try await bench.get("layouts/Own/records").code == "0")
            #expect(try await bench.get("layouts/L/records").code == "100")
        }
    }
}
