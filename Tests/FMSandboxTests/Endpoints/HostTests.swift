import Foundation
import Testing

@testable import FMSandbox

/// Requests that need no session: `GET productInfo` and `GET databases`.
@Suite(.timeLimit(.minutes(15))) struct HostTests {
    @Test func databasesAreFilteredByAccount() async throws {
        try await withBench(.inProcess, [.sample, .oneTable([.init("A")])]) { (bench: Bench) async throws in
            let anonymous = try await bench.send("GET", "/fmi/data/v1/databases")
            #expect(anonymous.response == ["databases": []])
            let guest = try await bench.send(
                "GET",
                "/fmi/data/v1/databases",
                headers: [Bench.basic("guest", "welcome")]
            )
            #expect(guest.response == ["databases": [["name": "World"]]])
        }
        // Servers before 19.6 filter the list only if a setting says so.
        try await withBench(configure: { $0.serverVersion = .v18 }) { (bench: Bench) async throws in
            let anonymous = try await bench.send("GET", "/fmi/data/v1/databases")
            #expect(anonymous.response == ["databases": [["name": "World"]]])
        }
        try await withBench(configure: { ($0.serverVersion, $0.filtersDatabases) = (.v18, true) }) {
            (bench: Bench) async throws in
            #expect(try await bench.send("GET", "/fmi/data/v1/databases").response == ["databases": []])
        }
        try await withBench(configure: { $0.filtersDatabases = false }) { (bench: Bench) async throws in
            let anonymous = try await bench.send("GET", "/fmi/data/v1/databases")
            #expect(anonymous.response == ["databases": [["name": "World"]]])
        }
    }

    @Test func aListOfDatabasesDoesNotUseUpWhatOAuthProved() async throws {
        try await withBench { (bench: Bench) async throws in
            let id = bench.engine.withState { $0.oauth.begin() }
            let user = Solution.Sample.oauthUser
            let identifier = try #require(bench.engine.withState { $0.oauth.signIn(account: user, requestId: id) })
            let headers = [
                ("X-FM-Data-OAuth-Request-Id", id), ("X-FM-Data-OAuth-Identifier", identifier), Bench.json,
            ]
            for _ in 1...2 {
                let list = try await bench.send("GET", "/fmi/data/v1/databases", headers: headers)
                #expect(list.response == ["databases": [["name": "World"]]])
            }
            #expect(try await bench.send("POST", bench.path("sessions"), headers: headers).code == "0")
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func productInfoNeedsNoHeaders(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            var anonymous = bench
            anonymous.token = nil
            let answer = try await anonymous.get("/productInfo")
            #expect(answer.status == 200)
            #expect(
                answer.response["productInfo"].object?.keys == ["name", "dateFormat", "timeFormat", "timeStampFormat"]
            )
        }
    }
}
