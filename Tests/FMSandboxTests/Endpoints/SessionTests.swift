import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite struct SessionTests {
    @Test func aSessionBelongsToTheSpellingOfItsDatabase() async throws {
        try await withBench { (bench: Bench) async throws in
            let token = ("Authorization", "Bearer \(try #require(bench.token))")
            let other = try await bench.send("GET", "/fmi/data/v1/databases/world/layouts", headers: [token])
            #expect(other.code == "952")
            let login = try await bench.send(
                "POST",
                "/fmi/data/v1/databases/WORLD/sessions",
                headers: [Bench.basic("ADMIN", "secret"), Bench.json],
                body: []
            )
            #expect(login.status == 200)
        }
    }

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
            // The others expire and make room.
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
            .init(name: "desk", password: "x", privilegeSet: "No API"),
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.login("idle", "x").code == "210")
            #expect(try await bench.login("desk", "x").code == "212")
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
                // The guide shows the token in the header alone.
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

    @Test func validateSessionTellsWhetherARequestRuns() async throws {
        try await withBench { (bench: Bench) async throws in
            #expect(try await bench.get("/validateSession").response == ["isSessionInUse": false])
            #expect(try await bench.get("/validatesession").code == "0")
            async let slow = bench.get("layouts/Contacts/script/Wait", [("script.param", "5")])
            await bench.clock.untilWaiting()
            #expect(try await bench.get("/validateSession").response == ["isSessionInUse": true])
            bench.clock.advance(by: .seconds(5))
            #expect(try await slow.response["scriptResult"] == "waited")
            let none = try await bench.send("GET", "/fmi/data/v1/validateSession")
            #expect(none.code == "10")
            #expect(none.message == "Request validation failed: Parameter (Authorization) is required")
            let wrong = try await bench.send(
                "GET",
                "/fmi/data/v1/validateSession",
                headers: [("Authorization", "Bearer x")]
            )
            #expect(wrong.code == "952")
        }
    }

    @Test func requestsOfOneSessionWaitAndSessionsDoNot() async throws {
        try await withBench { (bench: Bench) async throws in
            let other = try await bench.loggedIn()
            async let slow = bench.get("layouts/Contacts/script/Wait", [("script.param", "5")])
            await bench.clock.untilWaiting()
            // A request of the same session stands behind the script, while another session goes on.
            async let edit = bench.patch("layouts/Contacts/records/1", ["fieldData": ["City": "Oxford"]])
            #expect(try await other.get("layouts/Contacts/records/1").fields["City"] == "London")
            #expect(bench.engine.counters.executedWrites == 0)
            bench.clock.advance(by: .seconds(5))
            #expect(try await slow.code == "0")
            #expect(try await edit.response == ["modId": "1"])
        }
    }

    @Test func anIdleSessionDoesNotExpireWhileItsScriptRuns() async throws {
        try await withBench { (bench: Bench) async throws in
            async let slow = bench.get("layouts/Contacts/script/Wait", [("script.param", "1000")])
            await bench.clock.untilWaiting()
            bench.clock.advance(by: .seconds(1000))
            #expect(try await slow.code == "0")
        }
    }

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
        // Servers before 19.6 did not filter unless told to.
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

    @Test func tokensDifferAndOldOnesStayUnknown() async throws {
        try await withBench { (bench: Bench) async throws in
            let other = try await bench.loggedIn()
            #expect(other.token != bench.token)
            bench.engine.reset()
            let fresh = try await bench.loggedIn()
            #expect(fresh.token != bench.token)
            #expect(try await bench.get("layouts").code == "952")
            #expect(bench.engine.counters.logins == 1)
        }
    }

    @Test func whatRunsDuringAResetChangesNothingAfterIt() async throws {
        try await withBench { (bench: Bench) async throws in
            let body: JSONValue = [
                "fieldData": ["City": "Oxford"], "script.prerequest": "Wait", "script.prerequest.param": "5",
            ]
            async let edit = bench.patch("layouts/Contacts/records/1", body)
            await bench.clock.untilWaiting()
            bench.engine.reset()
            bench.clock.advance(by: .seconds(5))
            #expect(try await edit.code == "952")
            #expect(bench.engine.counters == Sandbox.Counters())
            let fresh = try await bench.loggedIn()
            #expect(try await fresh.get("layouts/Contacts/records/1").fields["City"] == "London")
        }
    }

    @Test func aLogoutNeedsTheSpellingOfTheLogin() async throws {
        try await withBench { (bench: Bench) async throws in
            let token = try #require(bench.token)
            let other = try await bench.send("DELETE", "/fmi/data/v1/databases/world/sessions/\(token)")
            #expect(other.status == 401)
            #expect(other.code == "952")
            #expect(try await bench.get("layouts").code == "0")
            #expect(try await bench.delete("sessions/").status == 405)
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

    @Test func openSessionsCanBeInspected() async throws {
        let clock = ManualClock()
        let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .seconds(3600), clock: clock))
        #expect(sandbox.sessions.isEmpty)
        let client = try await RawHTTPClient.connect(host: sandbox.host, port: sandbox.port)
        for (user, password) in [("guest", "welcome"), ("admin", "secret")] {
            let headers = [Bench.basic(user, password), Bench.json]
            let login = try await client.send("POST", "/fmi/data/v1/databases/World/sessions", headers: headers)
            #expect(login.status == 200)
        }
        let now = clock.now
        expectNoDifference(
            sandbox.sessions,
            [
                .init(database: "World", account: "guest", lastUsed: now, isInUse: false),
                .init(database: "World", account: "admin", lastUsed: now, isInUse: false),
            ]
        )
        clock.advance(by: .seconds(15 * 60 + 1))
        #expect(sandbox.sessions.isEmpty)
        try await client.close()
        await sandbox.stop()
    }

    /// A reset puts back what there was, and lets nothing in that began before the last restart.
    @Test func aResetDoesNotTurnBackTheEra() async throws {
        try await withBench { (bench: Bench) async throws in
            let era = bench.engine.withState { $0.era }
            bench.engine.closeAllSessions(isRestart: true)
            bench.engine.reset()
            #expect(bench.engine.withState { $0.era } == era + 1)
            #expect(bench.engine.counters == Sandbox.Counters())
        }
    }
}
