import FMData
import FMSandbox
import Testing

/// Runs a test against a fresh embedded server and checks that no session stays behind.
func withWorld(_ body: (DataAPI.Database, Sandbox) async throws -> Void) async throws {
    // A real server closes after 5 s at rest. A test that a busy machine holds up for so long must not notice.
    let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .seconds(600)))
    var config = DataAPI.Config()
    // A busy machine may hold a connection up for longer than a program would wait.
    config.timeouts.queue = nil
    config.timeouts.connect = nil
    config.timeouts.firstByte = nil
    config.timeouts.idle = nil
    let database = DataAPI.Server(host: sandbox.url, config: config)
        .addDatabase("World", credentials: .init(user: "admin", password: "secret"))
    do {
        try await body(database, sandbox)
        _ = try await database.logOut().firstValue()
        #expect(sandbox.counters.openSessions == 0)
    } catch {
        await sandbox.stop()
        throw error
    }
    await sandbox.stop()
}
