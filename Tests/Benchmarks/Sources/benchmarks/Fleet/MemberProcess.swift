import FMData
import FMDataFleet
import Foundation

/// Another process of this program: a member of a fleet, whose host is a ``FleetServer``.
///
/// `benchmarks member HOST STORE SLOTS` prints `ready`, then one line for each that it reads: for `calls N C` it makes
/// N calls, C of them at a time; for `counters` it does nothing. The line has its counters, and the time of the calls.
/// The end of its input shuts it down.
final class MemberProcess {
    private let process: OtherProcess

    /// What a member did so far, and how long its last calls took.
    struct Answer: Codable {
        var commands = 0
        var failed = 0
        var seconds = 0.0
    }

    init(host: String, store: String, slots: Int) throws {
        process = try OtherProcess(["member", host, store, "\(slots)"])
        _ = process.line()
    }

    func tell(_ command: String) { process.tell(command) }

    func answer() throws -> Answer { try process.answer() }

    func ask(_ command: String) throws -> Answer {
        tell(command)
        return try answer()
    }

    func killNow() { process.killNow() }

    /// Shuts it down, and returns when it has ended.
    func finish() { process.finish() }

    // MARK: The other process

    /// Runs the other process. Returns whether these arguments were for it.
    static func serve(_ arguments: some Sequence<String>) async throws -> Bool {
        let arguments = Array(arguments)
        guard arguments.count == 4, arguments[0] == "member", let store = StoreAddress(url: arguments[2]),
            let slots = Int(arguments[3])
        else { return false }
        let keys = try FleetKeys([1: [UInt8](repeating: 7, count: 32)], current: 1)
        let fleet = Fleet(slots: slots, store: store, keys: keys)
        var config = DataAPI.Config()
        config.sessions.budget = fleet.budget
        config.sessions.waitingDeadline = .seconds(300)
        let vessels = FleetServer.vessels(at: arguments[1], config)
        OtherProcess.say("ready")
        while let line = readLine() {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int($0) }
            var answer = Answer()
            if words.first == "calls", numbers.count == 2 {
                answer.seconds = await seconds { answer.failed = await calls(numbers[0], numbers[1], of: vessels) }
            }
            answer.commands = fleet.counters.commands
            try OtherProcess.say(answer)
        }
        _ = try await vessels.layout.database.server.shutdown().firstValue()
        await fleet.shutdown()
        return true
    }

    /// Returns how many failed.
    private static func calls(_ count: Int, _ width: Int, of vessels: DataAPI.TypedLayout<Vessel>) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for worker in 0..<width {
                group.addTask {
                    var failed = 0
                    for _ in stride(from: worker, to: count, by: width) {
                        do { _ = try await vessels.record(id: 1).firstValue() } catch { failed += 1 }
                    }
                    return failed
                }
            }
            return await group.reduce(0, +)
        }
    }
}
