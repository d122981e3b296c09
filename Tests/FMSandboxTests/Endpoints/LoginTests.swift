import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

/// `POST sessions`: which logins are accepted.
@Suite(.timeLimit(.minutes(15))) struct LoginTests {
    @Test func anUnknownDatabaseIs802() async throws {
        try await withBench { (bench: Bench) async throws in
            let answer = try await bench.send(
                "POST",
                "/fmi/data/v1/databases/Nope/sessions",
                headers: [Bench.basic("admin", "secret"), Bench.json],
                body: Array("{}".utf8)
            )
            #expect(answer.status == 500)
            #expect(answer.code == "802")
        }
    }

    @Test(arguments: [956, 812])
    func oneSessionTooManyIsRefused(_ code: Int) async throws {
        try await withBench(configure: { ($0.maximumSessions, $0.sessionLimitCode) = (2, code) }) {
            (bench: Bench) async throws in
            let second = try await bench.loggedIn()
            let refused = try await bench.login()
            #expect(refused.status == 500)
            #expect(refused.code == String(code))
            _ = try await bench.delete("sessions/\(try #require(second.token))")
            #expect(try await bench.login().status == 200)
            // After the other sessions have expired, a login is possible again.
            bench.clock.advance(by: .seconds(16 * 60))
            #expect(try await bench.login().status == 200)
            #expect(bench.engine.counters.openSessions == 1)
        }
    }

    @Test func accountsWithoutAccessDoNotGetIn() async throws {
        var solution = Solution.oneTable(["A"].map { Solution.Field($0) })
        solution.privilegeSets = [.init(name: "No API", allowsDataAPI: false)]
        solution.accounts += [
            .init(name: "idle", password: "x", isActive: false),
            .init(name: "budgetClient", password: "x", privilegeSet: "No API"),
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.login("idle", "x").code == "210")
            #expect(try await bench.login("budgetClient", "x").code == "212")
            #expect(try await bench.login("", "").code == "212")
            let answer = try await bench.send(
                "POST",
                bench.path("sessions"),
                headers: [("Authorization", "Basic not-base64!"), Bench.json],
                body: Array("{}".utf8)
            )
            #expect(answer.code == "212")
            #expect(bench.engine.counters.failedLogins == 4)
        }
    }

    @Test func bodiesOfALoginAreEmptyOrJSON() async throws {
        try await withBench { (bench: Bench) async throws in
            let admin = Bench.basic("admin", "secret")
            let empty = try await bench.send("POST", bench.path("sessions"), headers: [admin])
            #expect(empty.status == 200)
            let slash = try await bench.send("POST", bench.path("sessions/"), headers: [admin])
            #expect(slash.status == 200)
            let broken = try await bench.send(
                "POST",
                bench.path("sessions"),
                headers: [admin, Bench.json],
                body: [0x7B]
            )
            #expect(broken.status == 400)
            #expect(broken.code == "1710")
            let charset = ("Content-Type", "application/json; charset=utf-8")
            let modern = try await bench.send(
                "POST",
                bench.path("sessions"),
                headers: [admin, charset],
                body: Array("{}".utf8)
            )
            #expect(modern.status == 200)
        }
    }

    @Test func version18RefusesACharset() async throws {
        try await withBench(configure: { $0.serverVersion = .v18 }) { (bench: Bench) async throws in
            let headers = [Bench.basic("admin", "secret"), ("Content-Type", "application/json; charset=utf-8")]
            let answer = try await bench.send("POST", bench.path("sessions"), headers: headers, body: Array("{}".utf8))
            #expect(answer.status == 400)
        }
    }

    @Test func clarisIDsLogIn() async throws {
        try await withBench { (bench: Bench) async throws in
            for scheme in ["FMID", "fmid"] {
                let header = ("Authorization", "\(scheme) \(Solution.Sample.clarisToken)")
                let answer = try await bench.send(
                    "POST",
                    bench.path("sessions"),
                    headers: [header, Bench.json],
                    body: Array("{}".utf8)
                )
                #expect(answer.status == 200)
                // The guide shows the token only in the header.
                #expect(answer.header("x-fm-data-access-token")?.count == 52)
                #expect(answer.response == [:])
            }
            let header = ("Authorization", "FMID expired")
            let refused = try await bench.send(
                "POST",
                bench.path("sessions"),
                headers: [header, Bench.json],
                body: Array("{}".utf8)
            )
            #expect(refused.code == "212")
        }
    }

    @Test func anOAuthPairLogsInOnce() async throws {
        try await withBench { (bench: Bench) async throws in
            let providers = try await bench.send("GET", "/fmws/oauthproviderinfo")
            let name = try #require(providers.json["data"]["Provider"][0]["Name"].string)
            let target = "/oauth/getoauthurl?trackingID=7&provider=\(name)&address=127.0.0.1&X-FMS-OAuth-AuthType=2"
            let begun = try await bench.send("GET", target)
            let id = try #require(begun.header("x-fms-request-id"))
            #expect(begun.text.contains("trackingID=7"))
            let user = Solution.Sample.oauthUser
            let identifier = try #require(bench.engine.withState { $0.oauth.signIn(account: user, requestId: id) })
            let headers = [
                ("X-FM-Data-OAuth-Request-Id", id), ("X-FM-Data-OAuth-Identifier", identifier), Bench.json,
            ]
            let login = try await bench.send("POST", bench.path("sessions"), headers: headers, body: Array("{}".utf8))
            #expect(login.status == 200)
            let again = try await bench.send("POST", bench.path("sessions"), headers: headers, body: Array("{}".utf8))
            #expect(again.code == "212")
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aLoginAnswersTheTokenInHeaderAndBody(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.login()
            let token = try #require(answer.header("x-fm-data-access-token"))
            #expect(answer.status == 200)
            #expect(answer.response["token"] == .string(token))
            #expect(token.count == 52)
            #expect(token.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aWrongPasswordIs212(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.login("admin", "wrong")
            #expect(answer.status == 401)
            #expect(answer.code == "212")
            #expect(answer.header("x-fm-data-access-token") == nil)
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aLoginWithoutCredentialsIs10(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.send(
                "POST",
                bench.path("sessions"),
                headers: [Bench.json],
                body: Array("{}".utf8)
            )
            #expect(answer.status == 401)
            #expect(answer.code == "10")
            #expect(answer.message == "HTTP Authorization header or OAuth headers are missing.")
        }
    }

    @Test(.tags(.openQuestion)) func databasesAndAccountsThatAreNotThere() async throws {
        var solution = Solution.oneTable([.init("A")])
        solution.privilegeSets = [.init(name: "Desk", allowsDataAPI: false)]
        solution.accounts.append(.init(name: "budgetClient", password: "x", privilegeSet: "Desk"))
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let headers = [Bench.basic("admin", "secret"), Bench.json]
            let unknown = try await bench.send("POST", "/fmi/data/v1/databases/Nope/sessions", headers: headers)
            #expect(unknown.status == 500)
            #expect(unknown.code == "802")
            let budgetClient = try await bench.login("budgetClient", "x")
            #expect(budgetClient.status == 401)
            #expect(budgetClient.code == "212")
        }
    }

    @Test(.tags(.openQuestion), arguments: [nil, 956, 812]) func theCeilingOfSessionsHasACode(_ code: Int?) async throws
    {
        try await withBench(
            configure: { configuration in
                configuration.maximumSessions = 1
                if let code { configuration.sessionLimitCode = code }
            }
        ) { (bench: Bench) async throws in
            let refused = try await bench.login()
            #expect(refused.status == 500)
            #expect(refused.code == String(code ?? 956))
            // An injected full host answers with the same code.
            bench.engine.withState { $0.faults.add(.init(.fullHost)) }
            #expect(try await bench.get("layouts").code == String(code ?? 956))
        }
    }
}
