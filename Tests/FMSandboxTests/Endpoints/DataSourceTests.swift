import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct DataSourceTests {
    private var files: [Solution] {
        var front = Solution.oneTable([.init("Key"), .init("Name")], [.init(["Key": "1", "Name": "one"])])
        front.dataSources = [.init(name: "Store", database: "Back")]
        front.occurrences = [.init(name: "Items", table: "Stock", dataSource: "Store")]
        front.relationships = [
            .init("T", "Items", matches: [.init("Key", "Key")], rightRules: .init(allowsCreation: true))
        ]
        front.layouts = [
            .layout(
                .init(
                    name: "L",
                    table: "T",
                    fields: ["Name", "Items::Count"],
                    portals: [.init(table: "Items", fields: ["Items::Count"])]
                )
            ),
            .layout(.init(name: "Own", table: "T", fields: ["Name"])),
            .layout(.init(name: "Stock", table: "Items", fields: ["Count"])),
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
            accounts: [
                .init(name: "keeper", password: "other"),
                .init(name: "reader", password: "other", privilegeSet: "[Read-Only Access]"),
                .init(name: "blind", password: "other", privilegeSet: "Blind"),
                .init(name: "ada@example.com", password: "", kind: .oauth),
            ],
            privilegeSets: [.init(name: "Blind", hiddenFields: ["Stock::Count"])]
        )
        return [front, back]
    }

    @Test(
        "31 a file that lacks the session's account",
        arguments: [
            (nil, "0"), (Sandbox.DataSourceWithoutAccount.emptyValues, "0"), (.invalidAccount, "212"),
            (.fileNotOpened, "802"),
        ]
    )
    func lackingAccount(_ setting: Sandbox.DataSourceWithoutAccount?, _ code: String) async throws {
        try await withBench(.inProcess, files, configure: { $0.dataSourceWithoutAccount = setting }) {
            (bench: Bench) async throws in
            let answer = try await bench.get("layouts/L/records")
            #expect(answer.code == code)
            #expect(answer.status == (code == "0" ? 200 : 500))
            #expect(try await bench.get("layouts/Own/records").code == "0")
            // Here the records themselves are in the other file, so nothing could be shown.
            #expect(try await bench.get("layouts/Stock/records").code == (code == "802" ? "802" : "212"))
            guard code == "0" else { return }
            let record = answer.response["data"][0]
            #expect(record["fieldData"]["Name"] == "one")
            #expect(record["fieldData"]["Items::Count"] == "")
            #expect(record["portalData"]["Items"] == [])
            #expect(record["portalDataInfo"][0]["foundCount"] == .int(0))
            #expect(try await bench.find("L", [["Items::Count": "7"]]).code == "401")
            let rows: JSONValue = ["Items": [["Items::Count": .int(8)]]]
            #expect(try await bench.patch("layouts/L/records/1", ["fieldData": [:], "portalData": rows]).code == "200")
            #expect(try await bench.patch("layouts/L/records/1", ["fieldData": ["Name": "1"]]).code == "0")
        }
    }

    @Test func wrongCredentialsComeToLightOnUse() async throws {
        try await withBench(.inProcess, files) { (bench: Bench) async throws in
            let wrong: JSONValue = ["fmDataSource": [["database": "Back", "username": "keeper", "password": "wrong"]]]
            let stranger = try await bench.loggedIn("admin", "secret", wrong)
            #expect(try await stranger.get("layouts/Own/records").code == "0")
            let refused = try await stranger.get("layouts/L/records")
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

    private func login(_ entry: JSONObject, _ bench: Bench) async throws -> Bench {
        var entry = entry
        entry.append("database", "Back")
        return try await bench.loggedIn("admin", "secret", ["fmDataSource": [.object(entry)]])
    }

    /// The account with which a data source was opened decides what the session may do there.
    @Test func theAccountOfTheFileDecides() async throws {
        try await withBench(.inProcess, files) { (bench: Bench) async throws in
            func edit(_ bench: Bench) async throws -> String? {
                let rows: JSONValue = ["Items": [["recordId": "1", "Items::Count": .int(8)]]]
                return try await bench.patch("layouts/L/records/1", ["fieldData": [:], "portalData": rows]).code
            }
            func create(_ bench: Bench) async throws -> String? {
                let rows: JSONValue = ["Items": [["Items::Count": .int(8)]]]
                return try await bench.patch("layouts/L/records/1", ["fieldData": [:], "portalData": rows]).code
            }
            func count(_ bench: Bench) async throws -> JSONValue {
                try await bench.get("layouts/L/records").response["data"][0]["portalData"]["Items"][0]["Items::Count"]
            }
            let reader = try await login(["username": "reader", "password": "other"], bench)
            #expect(try await count(reader) == .int(7))
            #expect(try await edit(reader) == "200")
            #expect(try await create(reader) == "200")
            #expect(try await reader.patch("layouts/L/records/1", ["fieldData": ["Name": "own"]]).code == "0")
            let blind = try await login(["username": "blind", "password": "other"], bench)
            #expect(try await count(blind) == "<No Access>")
            #expect(try await edit(blind) == "202")
            let keeper = try await login(["username": "keeper", "password": "other"], bench)
            #expect(try await edit(keeper) == "0")
            #expect(try await create(keeper) == "0")
            #expect(try await count(keeper) == .int(8))
        }
    }

    @Test func oauthOpensADataSourceToo() async throws {
        try await withBench(.inProcess, files) { (bench: Bench) async throws in
            func pair() throws -> (id: String, identifier: String) {
                let id = bench.engine.withState { $0.oauth.begin() }
                let identifier = bench.engine.withState { $0.oauth.signIn(account: "ada@example.com", requestId: id) }
                return (id, try #require(identifier))
            }
            let (id, identifier) = try pair()
            let entry: JSONObject = ["oAuthRequestId": .string(id), "oAuthIdentifier": .string(identifier)]
            let ada = try await login(entry, bench)
            #expect(try await ada.get("layouts/L/records").code == "0")
            #expect(try await ada.get("layouts/L/records").code == "0")
            // The pair of tokens is used up, but not before the file has been opened.
            #expect(try await login(entry, bench).get("layouts/L/records").code == "212")
            // If an entry has both kinds of credentials, OAuth is used, even if only the password is right.
            var both: JSONObject = ["username": "keeper", "password": "other"]
            for member in entry.members { both.append(member.key, member.value) }
            #expect(try await login(both, bench).get("layouts/L/records").code == "212")
            let (nextId, next) = try pair()
            both = ["username": "keeper", "password": "wrong"]
            both.append("oAuthRequestId", .string(nextId))
            both.append("oAuthIdentifier", .string(next))
            #expect(try await login(both, bench).get("layouts/L/records").code == "0")
        }
    }
}
