#if Lifecycle
public import FMData
public import ServiceLifecycle

/// A FileMaker Server as a service of swift-service-lifecycle: it runs until the group shuts down, and then logs every
/// session out.
///
///     let group = ServiceGroup(
///         services: [DataAPIService(server), http],           // the client before what uses it
///         gracefulShutdownSignals: [.sigterm],
///         logger: logger
///     )
///     try await group.run()
///
/// Services are stopped in the reverse order: the web server first, then this one. Stopping is `shutdown()` of the
/// server: new calls and those that wait for a session fail with the code `shutdown`, calls under way have
/// `sessions.shutdownDeadline` to finish, and every session is logged out. A host that does not answer delays the end
/// by `sessions.logOutDeadline` at most; set it to 2 seconds in a service. A group that is cancelled instead ends the
/// same way.
public struct DataAPIService: Service {
    private let server: DataAPI.Server

    /// Creates a service that shuts this server object down at its end.
    public init(_ server: DataAPI.Server) { self.server = server }

    /// Waits for the shutdown of the group, then shuts the server object down. Never throws.
    public func run() async throws {
        // Cancelled is shut down as well: sessions would be left on the host otherwise.
        try? await gracefulShutdown()
        let server = server
        // In a task of its own, since a cancelled task would not wait.
        _ = await Task { try? await server.shutdown().firstValue() }.value
    }
}
#endif
