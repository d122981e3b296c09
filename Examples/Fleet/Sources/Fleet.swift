// What it shows: eight processes share four sessions of a FileMaker host. Two of them are killed in the middle, and
// then all are started again. The host, a sandbox, refuses a fifth session and counts what arrives.
// How to run it: `swift run --package-path Examples/Fleet`. It takes redis-server or valkey-server.
// What to look at: Member.swift, a process of the fleet: one line of its configuration makes it one.
// Processes.swift starts the processes and the store: your own program needs nothing of it.
import FMDataFleet
import FMSandbox
import Foundation

@main
struct FleetExample {
    static let calls = 150

    static func main() async throws {
        // The same program is the member of a fleet, when it is started so.
        if CommandLine.arguments.dropFirst().first == "member" { return try await Member.run() }
        guard let store = try StoreProcess() else {
            return print("Neither redis-server nor valkey-server is installed: there is nothing to show.")
        }
        defer { store.stop() }
        var configuration = Sandbox.Configuration()
        configuration.maximumSessions = 4
        let host = try await Sandbox.start([.sample], configuration: configuration)
        let starter = Starter(host: host.url, store: store.url)
        print("Eight processes, four sessions.")

        let first = try (1...8).map { try starter.start("\($0)", calls: calls) }
        // Two are killed when they have made a third of their calls.
        for member in first[..<2] {
            _ = await member.line()
            member.killNow()
            print("\(member.name): killed")
        }
        for member in first[2...] { await show(member) }
        let logins = host.counters.logins
        report(host)

        print("All are started again, with the sessions that are in the slots.")
        let second = try (9...16).map { try starter.start("\($0)", calls: 48) }
        for member in second { await show(member) }
        report(host)
        print("Logins since: \(host.counters.logins - logins)")

        for pool in try await FleetStatus.read(from: store.address).pools {
            for slot in pool.slots {
                print(
                    "Slot \(slot.number): \(slot.sessionLife == nil ? "empty" : "a session"), \(slot.holder ?? "free")"
                )
            }
        }
        await host.stop()
    }

    /// Prints what a member says until it ends.
    private static func show(_ member: MemberProcess) async {
        var last = "nothing"
        while let line = await member.line() { last = line }
        print("\(member.name): \(last)")
    }

    private static func report(_ host: Sandbox) {
        let counters = host.counters
        print(
            "The host: \(counters.mostOpenSessions) sessions at most, \(counters.logins) logins, "
                + "\(counters.failedLogins) refused"
        )
    }
}
