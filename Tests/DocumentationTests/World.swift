import FMData
import FMSandbox
import FMTestSupport
import Testing

/// Runs a test against a fresh sandbox and checks that no session stays open.
func withWorld(_ body: (DataAPI.Database, Sandbox) async throws -> Void) async throws {
    try await World.run { try await body($0.database, $0.sandbox) }
}
