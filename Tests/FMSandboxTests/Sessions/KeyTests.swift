import CustomDump
import Foundation
import Testing

@testable import FMSandbox

/// The proxy of OttoFMS, as any client sees it.
@Suite(.timeLimit(.minutes(15))) struct KeyTests {
    private static let key = Sandbox.Key("dk_1", database: "World", account: "admin")
    private static let guest = Sandbox.Key("dk_2", database: "world", account: "guest")

    private func withKeys(
        _ venue: Venue = .inProcess,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await withBench(venue, configure: { $0.keys = [Self.key, Self.guest] }) { (bench: Bench) async throws in
            try await body(bench)
        }
    }

    private func send(
        _ bench: Bench,
        _ method: String,
        _ path: String,
        _ key: String? = "dk_1",
        _ body: String = ""
    ) async throws -> Bench.Answer {
        let authorization = key.map { [("Authorization", "Bearer \($0)")] } ?? []
        return try await bench.send(
            method,
            "/otto/fmi/data/vLatest\(path)",
            headers: authorization + (body.isEmpty ? [] : [Bench.json]),
            body: Array(body.utf8)
        )
    }

    private let records = "/databases/World/layouts/Contacts/records"

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aKeyReadsAndWritesWithoutALogin(_ venue: Venue) async throws {
        try await withKeys(venue) { (bench: Bench) async throws in
            let logins = bench.engine.counters.logins
            let read = try await send(bench, "GET", records)
            #expect(read.recordIds == ["1", "2", "3"])
            let edit = try await send(bench, "PATCH", "\(records)/1", "dk_1", #"{"fieldData":{"City":"Kiel"}}"#)
            #expect(edit.response == ["modId": "1"])
            #expect(try await bench.get("layouts/Contacts/records/1").fields["City"] == "Kiel")
            #expect(bench.engine.counters.logins == logins)
            #expect(bench.engine.counters.openSessions == 1, "the one of the bench itself")
        }
    }

    @Test func aKeyMayDoWhatItsAccountMay() async throws {
        try await withKeys { (bench: Bench) async throws in
            let edit = try await send(bench, "PATCH", "\(records)/1", "dk_2", #"{"fieldData":{"City":"Kiel"}}"#)
            #expect(edit.code != "0")
            #expect(try await send(bench, "GET", "\(records)/1", "dk_2").code == "0")
        }
    }

    @Test func eachRequestHasASessionOfItsOwn() async throws {
        try await withKeys { (bench: Bench) async throws in
            let globals = try await send(
                bench,
                "PATCH",
                "/databases/World/globals",
                "dk_1",
                #"{"globalFields":{"Contacts::gFilter":"Oslo"}}"#
            )
            #expect(globals.code == "0")
            #expect(try await send(bench, "GET", "\(records)/1").fields["gFilter"] != "Oslo")
            // No request waits for another one's script.
            async let slow = send(bench, "GET", "/databases/World/layouts/Contacts/script/Wait?script.param=5")
            await bench.clock.untilWaiting()
            #expect(try await send(bench, "GET", "\(records)/1").code == "0")
            bench.clock.advance(by: .seconds(5))
            #expect(try await slow.response["scriptResult"] == "waited")
            #expect(bench.engine.counters.openSessions == 1)
        }
    }

    @Test(arguments: ["dk_3", "", nil] as [String?])
    func anUnknownKeyIsRefused(_ key: String?) async throws {
        try await withKeys { (bench: Bench) async throws in
            for path in [records, "/productInfo", "/databases", "/validateSession"] {
                let answer = try await send(bench, "GET", path, key)
                #expect(answer.status == 401)
                #expect(answer.code == nil)
            }
        }
    }

    @Test func aSessionsTokenIsNoKeyAndAKeyIsNoToken() async throws {
        try await withKeys { (bench: Bench) async throws in
            #expect(try await send(bench, "GET", records, bench.token).status == 401)
            var keyed = bench
            keyed.token = "dk_1"
            #expect(try await keyed.get("layouts/Contacts/records").code == "952")
        }
    }

    @Test func theProxyKnowsNoLoginAndNoLogout() async throws {
        try await withKeys { (bench: Bench) async throws in
            #expect(try await send(bench, "POST", "/databases/World/sessions", "dk_1", "{}").status == 404)
            let token = try #require(bench.token)
            #expect(try await send(bench, "DELETE", "/databases/World/sessions/\(token)").status == 404)
            #expect(bench.engine.counters.openSessions == 1)
        }
    }

    @Test func whatNeedsNoDatabaseIsAnsweredToo() async throws {
        try await withKeys { (bench: Bench) async throws in
            let info = try await send(bench, "GET", "/productInfo")
            #expect(info.response["productInfo"]["name"] == "FileMaker Data API Engine")
            #expect(try await send(bench, "GET", "/databases").response == ["databases": [["name": "World"]]])
            #expect(try await send(bench, "GET", "/validateSession").code == "0")
        }
    }

    @Test func aKeyIsForItsDatabase() async throws {
        try await withBench(configure: { config in
            config.keys = [
                Sandbox.Key("dk_1", database: "Other", account: "admin"),
                Sandbox.Key("dk_2", database: "World", account: "nobody"),
            ]
        }) { (bench: Bench) async throws in
            #expect(try await send(bench, "GET", records, "dk_1").status == 401)
            #expect(try await send(bench, "GET", records, "dk_2").status == 401)
        }
    }

    @Test func withoutKeysThereIsNoProxy() async throws {
        try await withBench { (bench: Bench) async throws in
            #expect(try await send(bench, "GET", records, "dk_1").status == 404)
        }
    }
}
