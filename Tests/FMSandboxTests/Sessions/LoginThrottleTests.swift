import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct LoginThrottleTests {
    private static let guess = "not it"

    private func withThrottling(_ attempts: Int, _ body: (Bench) async throws -> Void) async throws {
        let rule = Sandbox.LoginThrottling(attempts: attempts, period: .seconds(60))
        try await withBench(configure: { $0.loginThrottling = rule }, body)
    }

    @Test func wrongPasswordsLockTheAccountForAWhile() async throws {
        try await withThrottling(3) { (bench: Bench) async throws in
            for _ in 1...3 { #expect(try await bench.login("admin", Self.guess).code == "212") }
            let refused = try await bench.login()
            #expect(refused.code == "214")
            #expect(refused.status == 401)
            // Names are compared without case, other accounts are not locked, and open sessions continue.
            #expect(try await bench.login("ADMIN", "secret").code == "214")
            #expect(try await bench.login("guest", "welcome").code == "0")
            #expect(try await bench.get("layouts").code == "0")
            bench.clock.advance(by: .seconds(59))
            #expect(try await bench.login().code == "214")
            // A login refused with 214 does not prolong the lock.
            bench.clock.advance(by: .seconds(1))
            #expect(try await bench.login().code == "0")
            #expect(bench.engine.counters.failedLogins == 6)
        }
    }

    @Test func aLoginStartsTheCountAnew() async throws {
        try await withThrottling(2) { (bench: Bench) async throws in
            #expect(try await bench.login("admin", Self.guess).code == "212")
            #expect(try await bench.login().code == "0")
            #expect(try await bench.login("admin", Self.guess).code == "212")
            #expect(try await bench.login().code == "0")
        }
    }

    @Test func oldFailuresAreForgotten() async throws {
        try await withThrottling(2) { (bench: Bench) async throws in
            #expect(try await bench.login("admin", Self.guess).code == "212")
            bench.clock.advance(by: .seconds(60))
            #expect(try await bench.login("admin", Self.guess).code == "212")
            #expect(try await bench.login().code == "0")
        }
    }

    @Test func namesWithoutAnAccountAreLockedToo() async throws {
        try await withThrottling(1) { (bench: Bench) async throws in
            #expect(try await bench.login("nobody", "x").code == "212")
            #expect(try await bench.login("nobody", "x").code == "214")
        }
    }

    @Test func thereIsNoneByDefault() async throws {
        try await withBench { (bench: Bench) async throws in
            for _ in 1...20 { #expect(try await bench.login("admin", Self.guess).code == "212") }
            #expect(try await bench.login().code == "0")
        }
    }
}
