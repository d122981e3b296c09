public import FMData
import OpenCombine

extension DataAPI.Server {
    /// Creates a server whose requests a ``TestTransport`` answers, and whose time is that of its clock.
    ///
    ///     let server = DataAPI.Server(answering: transport)
    ///
    /// - Parameters:
    ///   - host: the name of the host; it is never looked up.
    ///   - transport: replaces `DataAPI.Config.transport`.
    ///   - config: the rest of the configuration. Its `timeouts` `firstByte` and `total` count on the clock.
    public convenience init(
        host: String = "fms.test",
        answering transport: TestTransport,
        config: DataAPI.Config = DataAPI.Config()
    ) {
        var bound = config
        bound.transport = BoundTransport(transport: transport, config: config)
        self.init(host: host, config: bound, clock: transport.clock)
    }

    /// Creates a server whose time is that of a test's clock.
    ///
    /// - Parameters:
    ///   - host: as in the initialiser without a clock.
    ///   - config: as there.
    ///   - clock: drives everything that the client waits for, but not the time limits of exchanges over the network.
    public convenience init(host: String, config: DataAPI.Config = DataAPI.Config(), clock: TestClock) {
        self.init(host: host, config: config, time: clock.sessionTime)
    }
}

extension TestTransport {
    /// A database of a server whose requests this transport answers, with credentials that it accepts.
    ///
    ///     let people = transport.database().layout(Person.self)
    ///
    /// - Parameters:
    ///   - name: the name of the file.
    ///   - config: the configuration of the server.
    public func database(
        _ name: String = "Test",
        config: DataAPI.Config = DataAPI.Config()
    ) -> DataAPI.Database {
        DataAPI.Server(answering: self, config: config)
            .addDatabase(name, credentials: DataAPI.Credentials(user: "test", password: "test"))
    }
}

/// A transport with the configuration of the server that uses it.
private struct BoundTransport: DataAPI.Transport {
    let transport: TestTransport
    let config: DataAPI.Config

    func parts(
        of request: DataAPI.TransportRequest
    ) -> AnyPublisher<DataAPI.ResponsePart, DataAPI.TransportError> {
        transport.parts(of: request, config: config)
    }
}
