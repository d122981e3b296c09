import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct SessionTests {
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
            // A request of the same session waits for the script; another session does not.
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

    @Test func openSessionsCanBeInspected() async throws {
        let clock = ManualClock()
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.clock = clock
            }
        )
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

    /// A reset restores the solution, but still refuses requests that began before the last restart.
    @Test func aResetDoesNotTurnBackTheEra() async throws {
        try await withBench { (bench: Bench) async throws in
            let era = bench.engine.withState { $0.era }
            bench.engine.closeAllSessions(isRestart: true)
            bench.engine.reset()
            #expect(bench.engine.withState { $0.era } == era + 1)
            #expect(bench.engine.counters == Sandbox.Counters())
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aWrongTokenIs952(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            var stranger = bench
            stranger.token = "deadbeef"
            let answer = try await stranger.get("layouts/Contacts/records")
            #expect(answer.status == 401)
            #expect(
                answer.text
                    == #"{"messages":[{"code":"952","message":"Invalid FileMaker Data API token (*)"}],"response":{}}"#
            )
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aSessionLivesFifteenMinutesAfterItsLastCall(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            bench.clock.advance(by: .seconds(14 * 60))
            let early = try await bench.get("layouts")
            #expect(early.code == "0")
            bench.clock.advance(by: .seconds(14 * 60))
            #expect(try await bench.get("layouts").code == "0")
            bench.clock.advance(by: .seconds(15 * 60 + 1))
            #expect(try await bench.get("layouts").code == "952")
            #expect(bench.engine.counters.expiredSessions == 1)
            // The highest number of open sessions stays in the counters.
            #expect(bench.engine.counters.openSessions == 0)
            #expect(bench.engine.counters.mostOpenSessions == 1)
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func aLogoutEndsTheSession(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let path = bench.path("sessions/\(try #require(bench.token))")
            let answer = try await bench.send("DELETE", path)
            #expect(answer.status == 200)
            #expect(answer.text == #"{"response":{},"messages":[{"code":"0","message":"OK"}]}"#)
            #expect(answer.body.count == 56)
            #expect(try await bench.get("layouts").code == "952")
            #expect(try await bench.send("DELETE", path).code == "952")
        }
    }

    @Test(.tags(.openQuestion)) func aMissingTokenIs10() async throws {
        try await withBench { (bench: Bench) async throws in
            var anonymous = bench
            anonymous.token = nil
            let call = try await anonymous.get("layouts/Contacts/records")
            #expect(call.status == 400)
            #expect(call.code == "10")
            anonymous.token = ""
            let login = try await anonymous.post("sessions")
            #expect(login.code == "212")
            let bare = try await bench.send("POST", bench.path("sessions"), headers: [Bench.json], body: [0x7B, 0x7D])
            #expect(bare.status == 401)
            #expect(bare.code == "10")
        }
    }

    @Test(.tags(.openQuestion)) func validateSessionRenews() async throws {
        try await withBench { (bench: Bench) async throws in
            for _ in 1...3 {
                bench.clock.advance(by: .seconds(14 * 60))
                #expect(try await bench.get("/validateSession").code == "0")
            }
        }
    }

    @Test(.tags(.openQuestion)) func twoCallsOnOneTokenWaitForEachOther() async throws {
        try await withBench { (bench: Bench) async throws in
            async let first = bench.get("layouts/Contacts/script/Wait", [("script.param", "5")])
            await bench.clock.untilWaiting()
            async let second = bench.get("layouts")
            bench.clock.advance(by: .seconds(5))
            #expect(try await first.code == "0")
            #expect(try await second.code == "0")
        }
    }
}
