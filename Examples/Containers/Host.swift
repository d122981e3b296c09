import FMData
import FMSandbox
import Foundation

/// The server of the program.
///
/// Without `FM_HOST` it starts the embedded one. With it, `FM_DATABASE`, `FM_USER` and `FM_PASSWORD` name a real file,
/// in which the program makes a record, fills its container and deletes it again: `Contact` names its layout and its
/// fields.
struct Host {
    let database: DataAPI.Database
    let sandbox: Sandbox?

    static func fromEnvironment() throws -> Host {
        let environment = ProcessInfo.processInfo.environment
        guard environment["FM_HOST"] != nil else { return try embedded() }
        let server = try DataAPI.Server(environment: environment)
        return Host(database: try server.addDatabase(environment: environment), sandbox: nil)
    }

    private static func embedded() throws -> Host {
        let sandbox = try Sandbox.startAndWait()
        return Host(
            database: DataAPI.Server(host: sandbox.url)
                .addDatabase(
                    Solution.Sample.database,
                    credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
                ),
            sandbox: sandbox
        )
    }

    func stop() async {
        guard let sandbox else { return }
        print("Sessions left on the server: \(sandbox.counters.openSessions)")
        await sandbox.stop()
    }
}
