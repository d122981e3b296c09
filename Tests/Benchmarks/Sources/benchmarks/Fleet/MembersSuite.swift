import Foundation

/// Processes that share sessions through a store: what it costs, and how long hand-overs take. The host answers after
/// 10 ms; all is real processes and a real `redis-server`.
///
/// Figures, each of `fleet.`: `commands_per_call.<alone|two>` to the store, without and with another member that wants
/// the only slot; `hand_over_ms`, `give_back_ms` and `take_over_s`, the time of the first call of a member whose slot
/// is held by one that is idle, that is shut down, or that was killed, less that of its second call;
/// `logins.<cold|rolling|lost>` of eight members on four slots that begin, are replaced one by one, and whose store
/// comes back empty; `commands_per_hour.<holding|idle>` of a member; `failed_without_store` of the calls that a holder
/// makes while the store is away; `throughput` of eight members on four slots, over that of one member on four.
enum MembersSuite: Suite {
    static let name = "members"
    static let isPartOfAll = false

    static func run(_ report: inout Report, _ options: Options) async throws {
        let parts: [(name: String, measure: (Scene) async throws -> [(String, Double)])] = [
            ("calls", commandsPerCall), ("passing", passingOn), ("logins", logins), ("idle", idle),
            ("away", away), ("throughput", throughput),
        ]
        print("\nA fleet of processes on a host with 10 ms:")
        for part in parts where options.measures(part.name) {
            let scene = try Scene()
            defer { scene.stop() }
            for (name, figure) in try await part.measure(scene) {
                report["fleet.\(name)"] = figure
                print("  \(name): \(String(format: "%.3f", figure))")
            }
        }
    }

    /// A host, a store and the members that were started.
    private final class Scene {
        let host: FleetServer
        let store: StoreProcess
        private var members: [MemberProcess] = []

        init() throws {
            host = try FleetServer(records: 100, latency: 10)
            store = try StoreProcess()
        }

        func start(slots: Int) throws -> MemberProcess {
            let member = try MemberProcess(host: host.url, store: store.url, slots: slots)
            members.append(member)
            return member
        }

        func stop() {
            for member in members { member.killNow() }
            store.stop()
            host.stop()
        }
    }

    private static func commandsPerCall(_ scene: Scene) throws -> [(String, Double)] {
        let first = try scene.start(slots: 1)
        let alone = Double(try first.ask("calls 2000 4").commands) / 2000
        let second = try scene.start(slots: 1)
        let before = try first.ask("counters").commands + second.ask("counters").commands
        for member in [first, second] { member.tell("calls 1000 4") }
        let after = try first.answer().commands + second.answer().commands
        return [("commands_per_call.alone", alone), ("commands_per_call.two", Double(after - before) / 2000)]
    }

    private static func passingOn(_ scene: Scene) async throws -> [(String, Double)] {
        /// The time of the first call of a new member, less that of its second.
        func wait(_ prepare: (MemberProcess) -> Void) throws -> Double {
            let holder = try scene.start(slots: 1)
            _ = try holder.ask("calls 10 1")
            let next = try scene.start(slots: 1)
            prepare(holder)
            let first = try next.ask("calls 1 1").seconds
            let rest = first - (try next.ask("calls 1 1").seconds)
            holder.killNow()
            next.finish()
            return rest
        }
        let handOver = try wait { _ in usleep(300_000) }
        let giveBack = try wait { $0.finish() }
        let takeOver = try wait { $0.killNow() }
        return [
            ("hand_over_ms", handOver * 1000), ("give_back_ms", giveBack * 1000), ("take_over_s", takeOver),
            ("logins.passing", Double(try scene.host.counts().logins)),
        ]
    }

    private static func logins(_ scene: Scene) throws -> [(String, Double)] {
        func work(_ members: [MemberProcess]) throws {
            for member in members { member.tell("calls 100 4") }
            for member in members { _ = try member.answer() }
        }
        var members: [MemberProcess] = []
        for _ in 0..<8 { members.append(try scene.start(slots: 4)) }
        try work(members)
        let cold = try scene.host.counts().logins
        for _ in 0..<8 {
            members.removeFirst().finish()
            members.append(try scene.start(slots: 4))
            try work(members)
        }
        let rolling = try scene.host.counts().logins - cold
        for member in members { member.tell("calls 400 4") }
        scene.store.killNow()
        try scene.store.start()
        for member in members { _ = try member.answer() }
        let lost = try scene.host.counts().logins - cold - rolling
        return [("logins.cold", Double(cold)), ("logins.rolling", Double(rolling)), ("logins.lost", Double(lost))]
    }

    private static func idle(_ scene: Scene) async throws -> [(String, Double)] {
        let members = [try scene.start(slots: 1), try scene.start(slots: 1)]
        _ = try members[0].ask("calls 10 1")
        let before = try members.map { try $0.ask("counters").commands }
        try await Task.sleep(for: .seconds(60))
        let after = try members.map { try $0.ask("counters").commands }
        return [
            ("commands_per_hour.holding", Double(after[0] - before[0]) * 60),
            ("commands_per_hour.idle", Double(after[1] - before[1]) * 60),
        ]
    }

    private static func away(_ scene: Scene) throws -> [(String, Double)] {
        let member = try scene.start(slots: 1)
        _ = try member.ask("calls 10 1")
        scene.store.signal(SIGSTOP)
        let failed = try member.ask("calls 1000 1").failed
        scene.store.signal(SIGCONT)
        return [("failed_without_store", Double(failed))]
    }

    private static func throughput(_ scene: Scene) throws -> [(String, Double)] {
        let alone = try scene.start(slots: 4)
        _ = try alone.ask("calls 100 32")
        let one = try alone.ask("calls 4000 32").seconds
        alone.finish()
        var members: [MemberProcess] = []
        for _ in 0..<8 { members.append(try scene.start(slots: 4)) }
        for member in members { member.tell("calls 20 4") }
        for member in members { _ = try member.answer() }
        for member in members { member.tell("calls 500 4") }
        let eight = try members.map { try $0.answer().seconds }.max() ?? 0
        return [("throughput", one / eight)]
    }
}
