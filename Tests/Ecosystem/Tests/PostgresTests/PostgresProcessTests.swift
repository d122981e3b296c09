import FMSandbox
import Foundation
import PostgresSupport
import Programs
import Testing

/// Real processes that share sessions through Postgres, some of which are killed. No test waits until a lease ends: it
/// says when.
@Suite(.needsPostgres, .timeLimit(.minutes(10)), .serialized)
struct PostgresProcessTests {
    /// The program `postgres-member`, which is built beside the tests.
    private static let member: String = {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return folder.deletingLastPathComponent().appendingPathComponent("postgres-member").path
    }()

    private func start(_ count: Int, _ store: PostgresServer, _ host: Sandbox, slots: Int) async throws -> [Program] {
        var members: [Program] = []
        for _ in 0..<count {
            let member = try Program(Self.member, [host.url, store.folder, "\(slots)"])
            let line = await member.line()
            #expect(line == "ready")
            members.append(member)
        }
        return members
    }

    private func expect(_ members: [Program], toMake calls: Int) async {
        for member in members { member.say("\(calls)") }
        for member in members {
            let line = await member.line()
            #expect(line == "done \(calls)")
        }
    }

    @Test func aProcessThatIsKilledLeavesItsSessionToTheOthers() async throws {
        try await withHost(sessions: 1) { store, host in
            let two = try await start(2, store, host, slots: 1)
            await expect([two[0]], toMake: 10)
            try await until(store, "count(token) = 1 FROM fm_slots")
            two[0].killNow()
            try await endLease(store)
            await expect([two[1]], toMake: 10)
            await two[1].finish()
            // All are started again.
            let next = try await start(2, store, host, slots: 1)
            await expect(next, toMake: 10)
            for member in next { await member.finish() }
            #expect(host.counters.logins == 1)
            #expect(host.counters.logouts == 0)
            try await until(store, "sum(strays) = 0 FROM fm_slots")
        }
    }

    /// The host has opened a session whose token nobody has.
    @Test func aProcessThatIsKilledDuringItsLoginIsCounted() async throws {
        try await withHost { store, host in
            let two = try await start(2, store, host, slots: 1)
            host.inject(.holdAnswer, on: .login)
            two[0].say("1")
            while host.counters.openSessions == 0, !Task.isCancelled { await Task.yield() }
            two[0].killNow()
            try await endLease(store)
            await expect([two[1]], toMake: 10)
            try await until(store, "sum(strays) = 1 FROM fm_slots")
            #expect(host.counters.logins == 2)
            host.releaseAnswers()
            await two[1].finish()
        }
    }
}
