package import FMHTTP

extension DataAPI {
    /// What is on the way to a host; see ``Server/connectionReport()``.
    package typealias ConnectionReport = FMHTTP.ConnectionReport
}

extension DataAPI.Server {
    /// Looks at the way to the host as calls take it: which addresses its name has, whether each of them takes
    /// connections, whether a proxy opens its tunnel, and the TLS and the certificates that the host shows.
    ///
    /// Unlike a call, it goes on where an address fails or a certificate would not be accepted: nothing in it is
    /// verified, and nothing is sent to the host after the handshake. Each step may take as long as `timeouts.connect`;
    /// when one address has answered, the others are given two more seconds. A host that cannot be reached is no error:
    /// the report says so. A host text that names none is one.
    package func connectionReport() async throws -> DataAPI.ConnectionReport {
        await client.connectionReport(on: try origin.get(), limit: calls.options.timeouts.connect)
    }
}
