import Testing

@testable import FMSandbox

/// Tokens that the host refuses although they are valid, and logouts that do not end their session.
@Suite(.timeLimit(.minutes(15))) struct SessionFaultTests {
    private func strike(_ fault: Sandbox.Fault, count: Int? = 1, _ body: (Bench) async throws -> Void) async throws {
        try await withBench { (bench: Bench) async throws in
            bench.engine.withState { $0.faults.add(.init(fault, count: count)) }
            try await body(bench)
        }
    }

    @Test func aTokenIsRefusedAndItsSessionStays() async throws {
        try await strike(.refuseToken) { (bench: Bench) async throws in
            let body: JSONValue = ["fieldData": ["City": "Oxford"]]
            let answer = try await bench.patch("layouts/Contacts/records/1", body)
            #expect(answer.status == 401)
            #expect(answer.code == "952")
            #expect(bench.engine.counters.executedWrites == 0)
            #expect(bench.engine.counters.openSessions == 1)
            #expect(try await bench.patch("layouts/Contacts/records/1", body).code == "0")
        }
    }

    @Test func aFreshTokenIsRefusedByAllButItsLogout() async throws {
        try await strike(.refuseFreshToken, count: 2) { (bench: Bench) async throws in
            for open in [2, 3] {
                let fresh = try await bench.loggedIn()
                #expect(bench.engine.counters.openSessions == open)
                for _ in 0..<2 { #expect(try await fresh.get("layouts").code == "952") }
                #expect(try await fresh.get("/validateSession").code == "952")
            }
            let good = try await bench.loggedIn()
            #expect(try await good.get("layouts").code == "0")
            #expect(bench.engine.counters.openSessions == 4)
        }
        try await strike(.refuseFreshToken) { (bench: Bench) async throws in
            let fresh = try await bench.loggedIn()
            #expect(try await fresh.delete("sessions/\(#require(fresh.token))").code == "0")
            #expect(bench.engine.counters.openSessions == 1)
        }
    }

    @Test func aLostLogoutEndsNothing() async throws {
        try await strike(.lostLogout) { (bench: Bench) async throws in
            let path = "sessions/\(try #require(bench.token))"
            #expect(try await bench.delete("sessions/unknown").code == "952")
            bench.engine.withState { $0.faults.add(.init(.lostLogout)) }
            #expect(try await bench.delete(path).code == "0")
            #expect(bench.engine.counters.openSessions == 1)
            #expect(bench.engine.counters.logouts == 0)
            #expect(try await bench.get("layouts").code == "0")
            bench.clock.advance(by: .seconds(15 * 60 + 1))
            #expect(bench.engine.counters.expiredSessions == 1)
        }
    }

    @Test func aLateLogoutEndsItsSessionLater() async throws {
        try await strike(.lateLogout(.seconds(20))) { (bench: Bench) async throws in
            #expect(try await bench.delete("sessions/\(#require(bench.token))").code == "0")
            #expect(bench.engine.counters.openSessions == 1)
            bench.clock.advance(by: .seconds(19))
            #expect(try await bench.get("layouts").code == "0")
            bench.clock.advance(by: .seconds(1))
            #expect(try await bench.get("layouts").code == "952")
            #expect(bench.engine.counters.logouts == 1)
            #expect(bench.engine.counters.expiredSessions == 0)
        }
    }
}
