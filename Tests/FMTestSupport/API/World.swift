public import FMData
public import FMSandbox
public import Testing

/// How a test reaches the embedded server.
public enum Wire: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case http, tls

    /// The name of the case, for the output of tests.
    public var testDescription: String { rawValue }
}

/// A fresh embedded server with its sample file, and the client's view of it.
public struct World: Sendable {
    /// The embedded server.
    public let sandbox: Sandbox
    /// The sample file on the server, as the client sees it.
    public let database: DataAPI.Database

    /// The layout "Countries".
    public var countries: DataAPI.Layout { database.addLayout("Countries") }
    /// The layout "Zones".
    public var zones: DataAPI.Layout { database.addLayout("Zones") }
    /// The layout "Contacts".
    public var contacts: DataAPI.Layout { database.addLayout("Contacts") }

    /// Runs a test in a world of its own and checks that no session is left.
    ///
    /// - Parameters:
    ///   - credentials: the default is the account with full access.
    ///   - sandbox: changes the server's configuration.
    ///   - client: changes the client's configuration.
    ///   - sessions: how many may be open when the test ends; by default as many as the client may have.
    public static func run(
        over wire: Wire = .http,
        credentials: Credentials? = Credentials(user: Solution.Sample.user, password: Solution.Sample.password),
        sandbox configureSandbox: (inout Sandbox.Configuration) -> Void = { _ in },
        client configureClient: (inout DataAPI.Config) -> Void = { _ in },
        clock: TestClock? = nil,
        sessions: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (World) async throws -> Void
    ) async throws {
        try await Hosted.run(
            .sample,
            over: wire,
            credentials: credentials,
            sandbox: configureSandbox,
            client: configureClient,
            clock: clock,
            sessions: sessions,
            sourceLocation: sourceLocation
        ) { database, sandbox in
            try await body(World(sandbox: sandbox, database: database))
        }
    }
}
