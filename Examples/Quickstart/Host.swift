import FMData
import FMSandbox
import Foundation

/// The server of the program.
///
/// Without `FM_HOST` it starts the embedded one. With it, `FM_DATABASE`, `FM_USER` and `FM_PASSWORD` name a real file,
/// which needs the layouts and fields of `Models.swift`; nothing is written to it unless `FM_WRITE=1`.
struct Host {
    let server: DataAPI.Server
    let database: String
    let credentials: Credentials
    let allowsWriting: Bool
    let sandbox: Sandbox?

    static func fromEnvironment() throws -> Host {
        let environment = ProcessInfo.processInfo.environment
        guard let host = environment["FM_HOST"] else { return try embedded() }
        guard let database = environment["FM_DATABASE"], let user = environment["FM_USER"],
            let password = environment["FM_PASSWORD"]
        else { throw Incomplete() }
        return Host(
            server: DataAPI.Server(host: host),
            database: database,
            credentials: Credentials(user: user, password: password),
            allowsWriting: environment["FM_WRITE"] == "1",
            sandbox: nil
        )
    }

    private static func embedded() throws -> Host {
        let sandbox = try Sandbox.startAndWait()
        return Host(
            server: DataAPI.Server(host: sandbox.url),
            database: "World",
            credentials: Credentials(user: "admin", password: "secret"),
            allowsWriting: true,
            sandbox: sandbox
        )
    }

    func stop() async {
        guard let sandbox else { return }
        print("Sessions left on the server: \(sandbox.counters.openSessions)")
        await sandbox.stop()
    }

    struct Incomplete: Error, CustomStringConvertible {
        let description = "FM_HOST is set, so FM_DATABASE, FM_USER and FM_PASSWORD must be too."
    }
}
