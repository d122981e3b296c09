import FMData
import FMSandbox
import Foundation

/// The server of the program.
///
/// Without `FM_HOST` it starts the embedded one with a fleet of 20,000 vessels. With it, `FM_DATABASE`, `FM_USER` and
/// `FM_PASSWORD` name a real file, which needs the layout of `Vessel.swift`: its vessels are exported, and nothing is
/// written.
struct Host {
    let url: String
    let database: String
    let credentials: Credentials
    let sandbox: Sandbox?

    static let fleetSize = 20_000

    static func fromEnvironment() async throws -> Host {
        let environment = ProcessInfo.processInfo.environment
        guard let host = environment["FM_HOST"] else { return try await embedded() }
        guard let database = environment["FM_DATABASE"], let user = environment["FM_USER"],
            let password = environment["FM_PASSWORD"]
        else { throw Incomplete() }
        return Host(
            url: host,
            database: database,
            credentials: Credentials(user: user, password: password),
            sandbox: nil
        )
    }

    /// The environment for a second process, by which it finds the server of the first.
    var environment: [String: String] {
        ProcessInfo.processInfo.environment.merging(["FM_HOST": url, "FM_DATABASE": database]) { $1 }
            .merging(sandbox == nil ? [:] : ["FM_USER": Self.user, "FM_PASSWORD": Self.password]) { $1 }
    }

    func vessels(on server: DataAPI.Server) -> DataAPI.TypedLayout<Vessel> {
        server.addDatabase(database, credentials: credentials).layout(Vessel.self)
    }

    private static let user = "nightly"
    private static let password = "secret"

    private static func embedded() async throws -> Host {
        let vessels = (1...fleetSize).map { number in
            Solution.Record(["Number": "\(number)", "Name": "Vessel \(number)", "Length": "\(10 + number % 300)"])
        }
        let fleet = Solution(
            name: "Fleet",
            tables: [
                .init(
                    name: "Vessels",
                    fields: [
                        .init("Number", .number, validation: .init(unique: true)),
                        .init("Name", validation: .init(notEmpty: true)),
                        .init("Length", .number, validation: .init(minimum: "1", maximum: "500")),
                    ],
                    records: vessels
                )
            ],
            layouts: [.layout(.init(name: "Vessels", table: "Vessels", fields: ["Number", "Name", "Length"]))],
            accounts: [.init(name: user, password: password)]
        )
        let sandbox = try await Sandbox.start([fleet])
        return Host(
            url: sandbox.url,
            database: "Fleet",
            credentials: Credentials(user: user, password: password),
            sandbox: sandbox
        )
    }

    struct Incomplete: Error, CustomStringConvertible {
        let description = "FM_HOST is set, so FM_DATABASE, FM_USER and FM_PASSWORD must be too."
    }
}
