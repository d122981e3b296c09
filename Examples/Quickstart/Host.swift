import FMData
import FMSandbox
import Foundation

/// The server of the program.
///
/// Without `FM_HOST` it starts the embedded one. With it, `FM_DATABASE`, `FM_USER` and `FM_PASSWORD` name a real file,
/// which needs the layouts and fields of `Models.swift`; nothing is written to it unless `FM_WRITE=1`.
struct Host {
    let database: DataAPI.Database
    let allowsWriting: Bool
    let sandbox: Sandbox?

    static func fromEnvironment() throws -> Host {
        let environment = ProcessInfo.processInfo.environment
        guard environment["FM_HOST"] != nil else { return try embedded() }
        return Host(
            database: try DataAPI.Server(environment: environment).addDatabase(environment: environment),
            allowsWriting: environment["FM_WRITE"] == "1",
            sandbox: nil
        )
    }

    private static func embedded() throws -> Host {
        let sandbox = try Sandbox.startAndWait()
        return Host(
            database: DataAPI.Server(host: sandbox.url)
                .addDatabase("World", credentials: Credentials(user: "admin", password: "secret")),
            allowsWriting: true,
            sandbox: sandbox
        )
    }

    func stop() async {
        guard let sandbox else { return }
        print("Sessions left on the server: \(sandbox.counters.openSessions)")
        await sandbox.stop()
    }
}
