public import FMData
public import FMSandbox
public import FMTesting
public import Testing

/// Runs tests against an embedded server with a solution of the test's own.
public enum Hosted {
    /// Runs a test against the server and checks that no session is left.
    ///
    /// - Parameters:
    ///   - credentials: the default is the account of a solution without accounts of its own.
    ///   - sandbox: changes the server's configuration.
    ///   - client: changes the client's configuration.
    ///   - clock: the client's. One that stands still is for tests that count what the client keeps or repeats for some
    ///     time: on a busy machine any time may pass between two of their lines.
    ///   - sessions: how many may be open when the test ends; by default as many as the client may have.
    public static func run(
        _ solution: Solution,
        over wire: Wire = .http,
        credentials: Credentials? = Credentials(user: "admin", password: ""),
        sandbox configureSandbox: (inout Sandbox.Configuration) -> Void = { _ in },
        client configureClient: (inout DataAPI.Config) -> Void = { _ in },
        clock: TestClock? = nil,
        sessions: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (DataAPI.Database, Sandbox) async throws -> Void
    ) async throws {
        var configuration = Sandbox.Configuration.patient
        configuration.tls = wire == .tls
        configureSandbox(&configuration)
        let sandbox = try await Sandbox.start([solution], configuration: configuration)

        var config = DataAPI.Config.patient
        config.tls.roots = .only(file: Sandbox.certificateAuthorityFile)
        configureClient(&config)
        let server =
            clock.map { DataAPI.Server(host: sandbox.url, config: config, clock: $0) }
            ?? DataAPI.Server(host: sandbox.url, config: config)
        let database = server.addDatabase(solution.name, credentials: credentials)

        let result: Result<Void, any Error>
        do {
            try await body(database, sandbox)
            // Before the client logs out, which ends all its sessions.
            #expect(
                sandbox.counters.openSessions <= sessions ?? config.sessions.maximumSessions,
                "too many sessions opened",
                sourceLocation: sourceLocation
            )
            // A test may have ended its sessions on the server; the client notices that here.
            _ = await database.logOut().awaitSingleResult()
            #expect(sandbox.counters.openSessions == 0, "sessions left behind", sourceLocation: sourceLocation)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await sandbox.stop()
        try result.get()
    }
}

extension Solution {
    /// A file with one table and one layout, both with the same name.
    public static func single(
        _ name: String = "Notes",
        fields: [Field],
        layoutFields: [LayoutField],
        records: [Record] = []
    ) -> Solution {
        Solution(
            name: "Single",
            tables: [Table(name: name, fields: fields, records: records)],
            layouts: [.layout(Layout(name: name, table: name, fields: layoutFields))]
        )
    }
}
