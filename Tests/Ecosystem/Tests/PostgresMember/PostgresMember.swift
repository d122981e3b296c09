import FMData
import Foundation
import PostgresSupport
import Programs

@testable import PostgresSample

/// One process of several that share sessions. Arguments: the URL of the host, the folder with the socket of Postgres,
/// the number of slots. It reads lines: a number asks for so many calls at once, and is answered by `done` and the
/// number of those that succeeded; the end of the input shuts it down.
@main struct PostgresMember {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let slots = Int(arguments[3]) else {
            print("three arguments: host, folder, slots")
            exit(2)
        }
        let client = PostgresClient(socketFolder: arguments[2])
        let sealer = TokenSealer(key: [UInt8](repeating: 5, count: 32))
        let budget = PostgresBudget(PostgresBudget.Settings(slots: slots), sealer: sealer, query: client.query)
        try await budget.prepare()
        var config = DataAPI.Config()
        config.sessions.budget = budget.budget
        // Several processes on a busy machine take their time.
        config.sessions.waitingDeadline = .seconds(300)
        let server = DataAPI.Server(host: arguments[1], config: config)
        let countries = server.addDatabase("World", credentials: Credentials(user: "admin", password: "secret"))
            .addLayout("Countries")
        say("ready")
        for await line in StandardInput.lines() {
            let succeeded = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<(Int(line) ?? 0) {
                    group.addTask {
                        (try? await countries.getRecords(recordQuery: RecordQuery(limit: 1)).returnAs(FieldData.self)
                            .firstValue()) != nil
                    }
                }
                var succeeded = 0
                for await hasSucceeded in group where hasSucceeded { succeeded += 1 }
                return succeeded
            }
            say("done \(succeeded)")
        }
        _ = try await server.shutdown().firstValue()
    }

    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
