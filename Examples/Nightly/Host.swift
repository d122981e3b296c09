import FMData
import FMSandbox
import Foundation

/// The server of the program.
///
/// Without `FM_HOST` it starts the embedded one with a fleet of 20,000 vessels. With it, `FM_DATABASE`, `FM_USER` and
/// `FM_PASSWORD` name a real file, which needs the layout of `Vessel.swift`: its vessels are exported, and nothing is
/// written.
struct Host {
    /// The variables that name the server, also for a second process.
    let environment: [String: String]
    let sandbox: Sandbox?

    static let fleetSize = 20_000

    static func fromEnvironment() async throws -> Host {
        let environment = ProcessInfo.processInfo.environment
        guard environment["FM_HOST"] == nil else { return Host(environment: environment, sandbox: nil) }
        return try await embedded(in: environment)
    }

    func vessels(_ config: DataAPI.Config = DataAPI.Config()) throws -> DataAPI.TypedLayout<Vessel> {
        try DataAPI.Server(environment: environment, config: config)
            .addDatabase(environment: environment)
            .layout(Vessel.self)
    }

    private static func embedded(in environment: [String: String]) async throws -> Host {
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
            accounts: [.init(name: "nightly", password: "secret")]
        )
        let sandbox = try await Sandbox.start([fleet])
        let variables = [
            "FM_HOST": sandbox.url, "FM_DATABASE": fleet.name, "FM_USER": "nightly", "FM_PASSWORD": "secret",
        ]
        return Host(environment: environment.merging(variables) { $1 }, sandbox: sandbox)
    }
}
