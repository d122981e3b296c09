import FMData
import FMSandbox
import OpenCombine

/// The world around the dashboard: two embedded servers with two files each, and the people who work with them. Each
/// goes on when the page shows what the one before has done. Your own program needs nothing of this.
enum OtherPeople {
    private static let credentials = Credentials(user: "board", password: "secret")

    /// Runs the program that `start` makes as long as people work.
    @MainActor static func work(_ start: (Coast, Coast) -> (DashboardModel, Page)) async throws {
        let northern = try await Sandbox.start([file("Oslo"), file("Bergen")])
        var southern = try await Sandbox.start([file("Rome"), file("Naples")])
        let north = Coast("north", host: northern.url, harbours: ["Oslo", "Bergen"], credentials: credentials)
        let south = Coast("south", host: southern.url, harbours: ["Rome", "Naples"], credentials: credentials)
        // Its pipelines end with it.
        try await day(of: start(north, south), at: northern, &southern)

        for await _ in north.close().merge(with: south.close()).values {}
        print("Sessions left: \(northern.counters.openSessions + southern.counters.openSessions)")
        await northern.stop()
        await southern.stop()
    }

    @MainActor private static func day(
        of program: (model: DashboardModel, page: Page),
        at north: Sandbox,
        _ south: inout Sandbox
    ) async throws {
        let model = program.model
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
        for server in others { _ = await server.shutdown().awaitSingleResult() }

        for text in ["F", "Fr", "Fra", "Fram"] { model.searchText = text }
        await shown(on: model) { _, found in found == ["Fram in Oslo, in port"] }

        // Somebody pulls the plug of the south, and puts it back.
        let files = ["Rome", "Naples"].compactMap(south.solution(named:))
        var configuration = Sandbox.Configuration()
        configuration.port = south.port
        await south.stop()
        await shown(on: model) { quays, _ in
            quays.allSatisfy { $0.isCurrent == ["Oslo", "Bergen"].contains($0.harbour) }
        }
        model.searchText = "Oslo 1"
        await shown(on: model) { _, found in found.count == 2 }
        south = try await Sandbox.start(files, configuration: configuration)
        await shown(on: model) { quays, _ in quays.count == 4 && quays.allSatisfy(\.isCurrent) }
        withExtendedLifetime(program) {}
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
