import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

/// Records that an account must not see.
@Suite(.timeLimit(.minutes(15))) struct RecordAccessTests {
    /// Orders of Ada and Eve with their lines, and an account for each that sees only its own.
    private static let solution: Solution = {
        let lines: Solution.Table = .init(
            name: "Lines",
            fields: [.init("Order"), .init("Item")],
            records: ["one", "two", "three"].map { .init(["Order": $0, "Item": "item of \($0)"]) }
        )
        let orders: Solution.Table = .init(
            name: "Orders",
            fields: [
                .init("Key"), .init("Owner"), .init("Amount", .number), .init("Photo", .container),
                .init("Copy", calculation: "Amount & Lines::Item"),
                .init("Sum", summary: .init(.total, of: "Amount")), .init("Shown", isGlobal: true),
                .init("Doubled", .number, autoEnter: .calculation("Amount * 2", replacesExisting: true)),
            ],
            records: [
                .init(["Key": "one", "Owner": "ada", "Amount": "1"]),
                .init([
                    "Key": "two", "Owner": "eve", "Amount": "2", "Photo": "data:text/plain;name=a.txt;base64,YQ==",
                ]),
                .init(["Key": "three", "Owner": "ada", "Amount": "4"]),
            ],
            globals: ["Shown": "to all"]
        )
        let own = ["Orders": "Owner = Get ( AccountName )"]
        return Solution(
            name: "Shop",
            tables: [orders, lines],
            relationships: [.init("Orders", "Lines", matches: [.init("Key", "Order")])],
            layouts: [
                .layout(
                    .init(
                        name: "Orders",
                        table: "Orders",
                        fields: ["Key", "Owner", "Amount", "Photo", "Copy", "Sum", "Shown", "Lines::Item"],
                        portals: [.init(table: "Lines", fields: ["Lines::Item"])]
                    )
                ),
                .layout(.init(name: "Lines", table: "Lines", fields: ["Item", "Orders::Amount"])),
            ],
            scripts: [.script(.init(name: "Amount", steps: [.exit("Get ( FoundCount ) & \":\" & Amount")]))],
            accounts: [
                .init(name: "admin", password: "secret"),
                .init(name: "ada", password: "a", privilegeSet: "Own"),
                .init(name: "eve", password: "e", privilegeSet: "Own"),
            ],
            privilegeSets: [.init(name: "Own", visibleRecords: own)]
        )
    }()

    @Test func findsLeaveOutWhatIsNotToBeSeen() async throws {
        try await withBench(.inProcess, [Self.solution]) { (bench: Bench) async throws in
            let ada = try await bench.loggedIn("ada", "a")
            let eve = try await bench.loggedIn("eve", "e")
            for (bench, all, large) in [
                (bench, ["1", "2", "3"], ["2", "3"]), (ada, ["1", "3"], ["3"]), (eve, ["2"], ["2"]),
            ] {
                #expect(try await bench.find("Orders", [["Key": "*"]]).recordIds == all)
                #expect(try await bench.find("Orders", [["Amount": ">1"]]).recordIds == large)
                #expect(try await bench.find("Orders", [["Amount": "1", "omit": "true"]]).recordIds == large)
            }
            let others = try await eve.find("Orders", [["Key": "==one"]])
            expectNoDifference(others.code, "401")
            expectNoDifference(awaited: try await ada.find("Orders", [["Key": "*"]]).column("Sum"), ["5", "5"])
        }
    }

    @Test func aListShowsThatTheyAreThereAndNothingOfThem() async throws {
        try await withBench(.inProcess, [Self.solution]) { (bench: Bench) async throws in
            let eve = try await bench.loggedIn("eve", "e")
            let answer = try await eve.get("layouts/Orders/records")
            expectNoDifference(answer.recordIds, ["1", "2", "3"])
            expectNoDifference(answer.column("Owner"), ["<No Access>", "eve", "<No Access>"])
            expectNoDifference(answer.column("Copy"), ["<No Access>", "2item of two", "<No Access>"])
            expectNoDifference(answer.column("Lines::Item"), ["<No Access>", "item of two", "<No Access>"])
            let first = answer.response["data"][0]
            expectNoDifference(first["fieldData"]["Photo"], "<No Access>")
            expectNoDifference(first["fieldData"]["Shown"], "<No Access>")
            expectNoDifference(first["portalData"]["Lines"], [])
            #expect(answer.column("Photo")[1].contains("Streaming"))
            // Related fields are hidden as well.
            expectNoDifference(
                awaited: try await eve.get("layouts/Lines/records").column("Orders::Amount"),
                ["<No Access>", "2", "<No Access>"]
            )
            // What one account has read does not affect another one.
            expectNoDifference(
                awaited: try await bench.get("layouts/Lines/records").column("Orders::Amount"),
                ["1", "2", "4"]
            )
        }
    }

    @Test(arguments: ["GET", "PATCH", "DELETE", "POST"])
    func byItsIdItIsError200(_ method: String) async throws {
        try await withBench(.inProcess, [Self.solution]) { (bench: Bench) async throws in
            let eve = try await bench.loggedIn("eve", "e")
            func send(_ id: Int) async throws -> String? {
                let path = "layouts/Orders/records/\(id)"
                return switch method {
                case "GET": try await eve.get(path).code
                case "PATCH": try await eve.patch(path, ["fieldData": ["Key": "x"]]).code
                case "DELETE": try await eve.delete(path).code
                default: try await eve.post(path).code
                }
            }
            expectNoDifference(awaited: try await send(1), "200")
            expectNoDifference(awaited: try await send(99), "101")
            expectNoDifference(awaited: try await send(2), "0")
            expectNoDifference(awaited: try await bench.get("layouts/Orders/records/1").fields["Key"], "one")
        }
    }

    @Test func whatIsWrittenCountsAtOnce() async throws {
        try await withBench(.inProcess, [Self.solution]) { (bench: Bench) async throws in
            let eve = try await bench.loggedIn("eve", "e")
            // Eve creates a record for Ada: it exists, with its auto-entered values, but Eve does not see it.
            let made = try await eve.post("layouts/Orders/records", ["fieldData": ["Owner": "ada", "Amount": "8"]])
            expectNoDifference(made.response["recordId"], "4")
            expectNoDifference(awaited: try await eve.get("layouts/Orders/records/4").code, "200")
            expectNoDifference(awaited: try await bench.find("Orders", [["Amount": "8"]]).column("Sum"), ["8"])
            let doubled = bench.engine.world.tables[0].records[3].values.map(\.text)
            #expect(doubled.contains("16"), "\(doubled)")
            // A record with a new owner is hidden from the old one, and visible again when it is returned.
            expectNoDifference(
                awaited: try await eve.patch("layouts/Orders/records/2", ["fieldData": ["Owner": "ada"]]).code,
                "0"
            )
            expectNoDifference(awaited: try await eve.get("layouts/Orders/records/2").code, "200")
            _ = try await bench.patch("layouts/Orders/records/2", ["fieldData": ["Owner": "Eve"]])
            expectNoDifference(awaited: try await eve.get("layouts/Orders/records/2").code, "0")
        }
    }

    @Test func scriptsSeeWhatTheAccountSees() async throws {
        try await withBench(.inProcess, [Self.solution]) { (bench: Bench) async throws in
            let eve = try await bench.loggedIn("eve", "e")
            let amount = try await eve.get("layouts/Orders/script/Amount")
            expectNoDifference(amount.response["scriptResult"], "3:<No Access>")
            let all = try await bench.get("layouts/Orders/script/Amount")
            expectNoDifference(all.response["scriptResult"], "3:1")
        }
    }

    @Test func aSolutionFileHoldsIt() throws {
        let read = try JSONDecoder().decode(Solution.self, from: JSONEncoder().encode(Self.solution))
        expectNoDifference(read.privilegeSets[0].visibleRecords, ["Orders": "Owner = Get ( AccountName )"])
    }
}
