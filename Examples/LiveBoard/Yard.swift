import FMData
import FMSandbox
import Foundation

/// The other process: two servers with two files each, in which it moves ships. It carries out one order per line that
/// it reads, so that the board can follow; real servers have other users for that.
enum Yard {
    static let user = "board"
    static let password = "secret"
    static let files = [["Oslo", "Bergen"], ["Rome", "Naples"]]

    static func run() async throws {
        var sandboxes: [Sandbox] = []
        for names in files { sandboxes.append(try await Sandbox.start(names.map(file(named:)))) }
        say(sandboxes.map(\.url).joined(separator: " "))

        let servers = sandboxes.map { DataAPI.Server(host: $0.url) }
        func ships(_ server: Int, _ file: String) -> DataAPI.TypedLayout<Ship> {
            servers[server].addDatabase(file, credentials: Credentials(user: user, password: password)).layout(
                Ship.self
            )
        }
        for await order in Self.orders {
            switch order {
            case "insert":
                let ship = Ship(name: "Fram", berth: "3", state: "in port")
                _ = try await ships(0, "Oslo").create(ship).firstValue()
            case "update": _ = try await ships(1, "Rome").update(1) { $0.berth = "9" }.firstValue()
            case "leave": _ = try await ships(0, "Bergen").update(1) { $0.state = "at sea" }.firstValue()
            case "delete": _ = try await ships(1, "Naples").delete(1).firstValue()
            case "stop": await sandboxes[1].stop()
            default: break
            }
            if order == "start" {
                sandboxes[1] = try await restarted(sandboxes[1])
            }
        }
        for server in servers { _ = await server.shutdown().awaitSingleResult() }
        for sandbox in sandboxes { await sandbox.stop() }
    }

    /// Starts the server again at the same address, with the same files.
    private static func restarted(_ sandbox: Sandbox) async throws -> Sandbox {
        var configuration = Sandbox.Configuration()
        configuration.port = sandbox.port
        return try await Sandbox.start(files[1].compactMap(sandbox.solution(named:)), configuration: configuration)
    }

    static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// The lines of standard input, read on a thread of its own.
    private static var orders: AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    private static func file(named name: String) -> Solution {
        let ships = (1...3).map { number in
            Solution.Record(["Name": "\(name) \(number)", "Berth": "\(number)", "State": "in port"])
        }
        return Solution(
            name: name,
            tables: [.init(name: "Ships", fields: [.init("Name"), .init("Berth"), .init("State")], records: ships)],
            layouts: [.layout(.init(name: "Ships", table: "Ships", fields: ["Name", "Berth", "State"]))],
            accounts: [.init(name: user, password: password)]
        )
    }
}
