public import FMData
public import FMSandbox
public import Testing

/// How a test reaches the embedded server.
public enum Wire: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case http, tls

    public var testDescription: String { rawValue }
}

/// A fresh embedded server with its sample file, and the client's view of it.
public struct World: Sendable {
    public let sandbox: Sandbox
    public let database: DataAPI.Database

    public var countries: DataAPI.Layout { database.addLayout("Countries") }
    public var zones: DataAPI.Layout { database.addLayout("Zones") }
    public var contacts: DataAPI.Layout { database.addLayout("Contacts") }

    /// Runs a test in a world of its own and checks that no session stays behind.
    ///
    /// - Parameters:
    ///   - credentials: the default is the account that may do everything.
    ///   - sandbox: changes the server's configuration.
    ///   - client: changes the client's configuration.
    public static func run(
        over wire: Wire = .http,
        credentials: Credentials? = Credentials(user: Solution.Sample.user, password: Solution.Sample.password),
        sandbox configureSandbox: (inout Sandbox.Configuration) -> Void = { _ in },
        client configureClient: (inout DataAPI.Config) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (World) async throws -> Void
    ) async throws {
        var configuration = Sandbox.Configuration()
        configuration.tls = wire == .tls
        // A real server closes after 5 s at rest. A test that a busy machine holds up for so long must not notice.
        configuration.keepAlive = .seconds(600)
        configureSandbox(&configuration)
        let sandbox = try await Sandbox.start(configuration: configuration)

        var config = DataAPI.Config.patient
        config.tls.roots = .only(file: Sandbox.certificateAuthorityFile)
        configureClient(&config)
        let database = DataAPI.Server(host: sandbox.url, config: config)
            .addDatabase(Solution.Sample.database, credentials: credentials)

        let result: Result<Void, any Error>
        do {
            try await body(World(sandbox: sandbox, database: database))
            // A test may have ended its sessions by force; the client then learns it here.
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
