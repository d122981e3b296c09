import FMData
import FMSandbox

/// One of the two servers: an embedded one, so that the example runs anywhere. Your own program needs only
/// `DataAPI.Server(host: "fms.example.com")` instead.
struct Site {
    let name: String
    let sandbox: Sandbox
    let server: DataAPI.Server
    let branches: [Branch]

    static func open(_ name: String, branches: [String]) async throws -> Site {
        let sandbox = try await Sandbox.start(branches.map(solution(named:)))
        var config = DataAPI.Config()
        // Four requests at once for each database.
        config.sessions.maximumSessions = 4
        let server = DataAPI.Server(host: sandbox.url, config: config)
        let credentials = Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
        return Site(
            name: name,
            sandbox: sandbox,
            server: server,
            branches: branches.map { Branch($0, on: server, credentials: credentials) }
        )
    }

    /// Restarts the server, as an administrator might at noon: sessions end, connections break.
    func restart() {
        sandbox.restart()
        print("The \(name) restarted")
    }

    /// Logs out of every database of the server.
    func close() async throws {
        _ = try await server.shutdown().firstValue()
        print("Sessions left in the \(name): \(sandbox.counters.openSessions)")
        await sandbox.stop()
    }

    /// The sample file with another name, and with a unique field that makes it safe to file a contact again.
    private static func solution(named name: String) -> Solution {
        var solution = Solution.sample
        solution.name = name
        for table in solution.tables.indices where solution.tables[table].name == "Contacts" {
            for field in solution.tables[table].fields.indices
            where solution.tables[table].fields[field].name == "Email" {
                solution.tables[table].fields[field].validation.unique = true
            }
        }
        return solution
    }
}
