import FMSandbox
import FMTestSupport
import Testing

@testable import FMData

/// An embedded server with a solution of the test's own.
enum Hosted {
    static func run(
        _ solution: Solution,
        version: Sandbox.ServerVersion = .v22,
        client configure: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (DataAPI.Database, Sandbox) async throws -> Void
    ) async throws {
        let sandbox = try await Sandbox.start(
            [solution],
            configuration: .init(keepAlive: .seconds(600), serverVersion: version)
        )
        var config = DataAPI.Config.patient
        configure(&config)
        let database = DataAPI.Server(host: sandbox.url, config: config)
            .addDatabase(solution.name, credentials: Credentials(user: "admin", password: ""))
        let result: Result<Void, any Error>
        do {
            try await body(database, sandbox)
            _ = try await database.logOut().firstValue()
            #expect(sandbox.counters.openSessions == 0)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await sandbox.stop()
        try result.get()
    }
}

extension Solution {
    /// A file with one table and one layout, both of one name.
    static func single(
        _ name: String = "Notes",
        fields: [Field],
        layoutFields: [LayoutField],
        records: [Record] = []
    )
        -> Solution
    {
        Solution(
            name: "Single",
            tables: [Table(name: name, fields: fields, records: records)],
            layouts: [.layout(Layout(name: name, table: name, fields: layoutFields))]
        )
    }
}
