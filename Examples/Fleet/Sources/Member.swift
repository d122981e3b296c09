import FMData
import FMDataFleet
import Foundation

/// One process of the fleet. It makes its calls, four at a time, and says how far it is.
enum Member {
    static func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let store = environment["FLEET_STORE"].flatMap(StoreAddress.init(url:)),
            let key = environment["FLEET_KEY"].flatMap({ Data(base64Encoded: $0) }),
            let calls = environment["FLEET_CALLS"].flatMap({ Int($0) })
        else { return print("FLEET_STORE, FLEET_KEY and FLEET_CALLS are missing.") }

        let fleet = Fleet(slots: 4, store: store, keys: try FleetKeys([1: Array(key)], current: 1))
        var config = DataAPI.Config()
        config.sessions.budget = fleet.budget
        let database = try DataAPI.Server(environment: environment, config: config)
            .addDatabase(environment: environment)

        await call(database.addLayout("Countries"), calls, fleet)
        // The slots are free at once, and their sessions are for the others.
        _ = try await database.server.shutdown().firstValue()
        await fleet.shutdown()
    }

    private static func call(_ countries: DataAPI.Layout, _ calls: Int, _ fleet: Fleet) async {
        var failures = 0
        for made in stride(from: 0, to: calls, by: calls / 3) {
            failures += await withTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var failures = 0
                        for _ in 0..<(calls / 12) {
                            do {
                                _ = try await countries.getRecords().returnAs(FieldData.self).firstValue()
                            } catch {
                                failures += 1
                            }
                        }
                        return failures
                    }
                }
                return await group.reduce(0, +)
            }
            let counters = fleet.counters
            say(
                "\(made + calls / 3) calls, \(failures) failed, \(counters.slotsTaken) slots, \(counters.recalls) recalls"
            )
        }
    }

    /// At once, since whoever reads it wants to know it now.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
