import FMData
import FMSandbox
import OpenCombine

/// The world around the dashboard: two embedded servers with two files each, and the people who work with them. Each
/// goes on when the page shows what the one before has done. Your own program needs nothing of this.
enum OtherPeople {
    private static let credentials = Credentials(user: "board", password: "secret")

    /// Runs the program that `start` makes as long as people work.
    @MainActor static func work(_ start: (Coast, Coast) -> (DashboardModel, Page)) async throws {
        let north = try await Sandbox.start([file("Oslo"), file("Bergen")])
        var south = try await Sandbox.start([file("Rome"), file("Naples")])
        let (model, page) = start(
            Coast("north", host: north.url, harbours: ["Oslo", "Bergen"], credentials: credentials),
            Coast("south", host: south.url, harbours: ["Rome", "Naples"], credentials: credentials)
        )
        await shown(on: model) { quays, _ in quays.count == 4 }

        let others = [DataAPI.Server(host: north.url), DataAPI.Server(host: south.url)]
        func ships(_ server: Int, _ file: String) -> DataAPI.TypedLayout<Ship> {
            others[server].addDatabase(file, credentials: credentials).layout(Ship.self)
        }
        let fram = Ship(name: "Fram", berth: "4", state: "in port")
        _ = try await ships(0, "Oslo").create(fram).firstValue()
        await shown(on: model) { quays, _ in quays.contains { $0.ships.contains { $0.name == "Fram" } } }
        _ = try await ships(1, "Rome").update(1) { $0.berth = "9" }.firstValue()
        await shown(on: model) { quays, _ in quays.contains { $0.ships.contains { $0.berth == "9" } } }
        _ = try await ships(0, "Bergen").update(1) { $0.state = "at sea" }.firstValue()
        await shown(on: model) { quays, _ in quays.contains { $0.harbour == "Bergen" && $0.ships.count == 2 } }

        for text in ["F", "Fr", "Fra", "Fram"] { model.searchText = text }
        await shown(on: model) { _, found in found == ["Fram in Oslo, in port"] }

        // Somebody pulls the plug of the south, and puts it back.
        let files = ["Rome", "Naples"].compactMap(south.solution(named:))
        var configuration = Sandbox.Configuration()
        configuration.port = south.port
        for server in others { _ = await server.shutdown().awaitSingleResult() }
        await south.stop()
        await shown(on: model) { quays, _ in
            quays.allSatisfy { $0.isCurrent == ["Oslo", "Bergen"].contains($0.harbour) }
        }
        model.searchText = "Oslo 1"
        await shown(on: model) { _, found in found.count == 2 }
        south = try await Sandbox.start(files, configuration: configuration)
        await shown(on: model) { quays, _ in quays.count == 4 && quays.allSatisfy(\.isCurrent) }

        withExtendedLifetime(page) {}
        for await _ in model.close().values {}
        print("Sessions left: \(north.counters.openSessions + south.counters.openSessions)")
        await north.stop()
        await south.stop()
    }

    /// Waits until the page shows such quays and such finds.
    @MainActor private static func shown(on model: DashboardModel, _ isShown: ([Quay], [String]) -> Bool) async {
        for await (quays, found) in model.$quays.combineLatest(model.$found).values where isShown(quays, found) {
            return
        }
    }

    private static func file(_ name: String) -> Solution {
        let ships = (1...3).map { number in
            Solution.Record(["Name": "\(name) \(number)", "Berth": "\(number)", "State": "in port"])
        }
        return Solution(
            name: name,
            tables: [.init(name: "Ships", fields: [.init("Name"), .init("Berth"), .init("State")], records: ships)],
            layouts: [.layout(.init(name: "Ships", table: "Ships", fields: ["Name", "Berth", "State"]))],
            accounts: [.init(name: "board", password: "secret")]
        )
    }
}
