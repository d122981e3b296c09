#if Metrics
public import FMData
public import Metrics
public import OpenCombine
import Synchronization

/// The figures of a server's calls and sessions, by swift-metrics, with the names of OpenTelemetry's conventions for
/// clients of databases.
///
///     var config = DataAPI.Config()
///     let metrics = DataAPIMetrics()
///     metrics.install(in: &config)
///     let server = DataAPI.Server(host: "fms.example.com", config: config)
///     let orders = server.addDatabase("Orders", credentials: credentials)
///     let sessions = metrics.watchSessions(of: orders)
///
/// | figure | kind | counts |
/// |---|---|---|
/// | `db.client.operation.duration` | timer | each call, with its wait for a session and all attempts |
/// | `db.client.response.returned_rows` | recorder | the records of each call that has some |
/// | `filemaker.client.retries` | counter | attempts after a call's first |
/// | `filemaker.client.bytes` | counter | bytes of bodies, `direction` is `sent` or `received` |
/// | `filemaker.client.logins` | counter | logins, by outcome |
/// | `db.client.connection.count` | gauge | sessions, `db.client.connection.state` is `used` or `idle` |
/// | `db.client.connection.max` | gauge | the sessions that the database may have |
/// | `db.client.connection.pending_requests` | gauge | calls that wait for a session |
/// | `filemaker.client.transfer.bytes` | gauge | what a `TransferMeter` has counted, by database |
/// | `filemaker.client.transfer.limit` | gauge | its limit in bytes |
///
/// The dimensions are `db.system.name` (`filemaker`), `db.namespace` (the database), `db.operation.name`, and for a
/// failure `error.type` (the `APIError.Code`) and `db.response.status_code` (FileMaker's code). A cancelled
/// call has `error.type` `cancelled`. The layout is a dimension on request only: each layout multiplies the figures
/// that a backend stores.
///
/// Source: OpenTelemetry semantic conventions 1.44, "Database client metrics".
public final class DataAPIMetrics: Sendable {
    private let includesLayouts: Bool
    private let factory: any MetricsFactory
    /// The handlers of each set of dimensions; making one costs more than using it.
    private let handlers = Mutex<[Dimensions: Handlers]>([:])

    /// Creates figures that no server uses yet.
    ///
    /// - Parameters:
    ///   - includesLayouts: whether the layout is a dimension, `db.collection.name`. The default is no.
    ///   - factory: the backend. The default is the one that the program has bootstrapped.
    public init(includesLayouts: Bool = false, factory: any MetricsFactory = MetricsSystem.factory) {
        self.includesLayouts = includesLayouts
        self.factory = factory
    }

    /// Has the calls of every server with this configuration counted.
    public func install(in config: inout DataAPI.Config) {
        config.observers.append(observer)
        config.middleware.append(logins)
    }

    /// Shows the sessions of a database, until the result is cancelled or released.
    public func watchSessions(of database: DataAPI.Database) -> AnyCancellable {
        let common = Self.common(database.name)
        func gauge(_ name: String, _ more: [(String, String)] = []) -> Gauge {
            Gauge(label: name, dimensions: common + more, factory: factory)
        }
        let used = gauge("db.client.connection.count", [("db.client.connection.state", "used")])
        let idle = gauge("db.client.connection.count", [("db.client.connection.state", "idle")])
        let limit = gauge("db.client.connection.max")
        let waiting = gauge("db.client.connection.pending_requests")
        return database.status.sink { status in
            used.record(status.leased)
            idle.record(max(0, status.sessions - status.leased))
            limit.record(status.limit)
            waiting.record(status.waiting)
        }
    }

    /// Records what a meter has counted so far. Call it now and then, such as whenever the figures are collected.
    ///
    ///     metrics.record(meter)
    public func record(_ meter: DataAPI.TransferMeter) {
        func gauge(_ name: String, _ database: String?) -> Gauge {
            Gauge(label: name, dimensions: Self.common(database), factory: factory)
        }
        for (database, bytes) in meter.reading.answers {
            // Those of calls that belong to no database have no name.
            gauge("filemaker.client.transfer.bytes", database.isEmpty ? nil : database).record(bytes)
        }
        if let limit = meter.limit { gauge("filemaker.client.transfer.limit", nil).record(limit) }
    }

    // MARK: Calls

    private var observer: DataAPI.CallObserver {
        DataAPI.CallObserver { call in
            DataAPI.CallObservation { [self] end in
                let handlers = handlers(for: Dimensions(call, end, includesLayouts: includesLayouts))
                handlers.duration.record(duration: end.duration)
                if end.rowCount > 0 { handlers.rows.record(end.rowCount) }
                if end.attempts > 1 { handlers.retries.increment(by: end.attempts - 1) }
                if end.bytesSent > 0 { handlers.sent.increment(by: end.bytesSent) }
                if end.bytesReceived > 0 { handlers.received.increment(by: end.bytesReceived) }
            }
        }
    }

    private func handlers(for dimensions: Dimensions) -> Handlers {
        handlers.withLock { handlers in
            if let known = handlers[dimensions] { return known }
            let new = Handlers(dimensions.pairs, factory)
            handlers[dimensions] = new
            return new
        }
    }

    // MARK: Logins

    /// A login serves many calls and is none itself.
    private var logins: DataAPI.Middleware {
        DataAPI.Middleware(of: [.logIn]) { [factory] request, next in
            let common = Self.common(request.database)
            let ended = Mutex(false)
            func count(_ outcome: String) {
                let isFirst = ended.withLock { ended in
                    defer { ended = true }
                    return !ended
                }
                guard isFirst else { return }
                Counter(
                    label: "filemaker.client.logins",
                    dimensions: common + [("outcome", outcome)],
                    factory: factory
                )
                .increment()
            }
            return next(request).handleEvents(
                receiveOutput: { part in
                    if let status = part.status { count(status == 200 ? "opened" : "refused") }
                },
                receiveCompletion: { completion in if case .failure = completion { count("failed") } }
            )
            .eraseToAnyPublisher()
        }
    }

    private static func common(_ database: String?) -> [(String, String)] {
        [("db.system.name", "filemaker")] + (database.map { [("db.namespace", $0)] } ?? [])
    }
}

/// What tells the figures of calls apart.
private struct Dimensions: Hashable, Sendable {
    let database: String?
    let layout: String?
    let operation: String
    let error: String?
    let code: Int?

    init(_ call: DataAPI.CallDescription, _ end: DataAPI.CallEnd, includesLayouts: Bool) {
        database = call.database
        layout = includesLayouts ? call.layout : nil
        operation = call.operation.rawValue
        error = end.isCancelled ? "cancelled" : end.failure.map { "\($0.code)" }
        code = end.failure?.fileMakerCode?.rawValue
    }

    var pairs: [(String, String)] {
        var pairs = [("db.system.name", "filemaker"), ("db.operation.name", operation)]
        if let database { pairs.append(("db.namespace", database)) }
        if let layout { pairs.append(("db.collection.name", layout)) }
        if let error { pairs.append(("error.type", error)) }
        if let code { pairs.append(("db.response.status_code", "\(code)")) }
        return pairs
    }
}

/// The figures of calls with the same dimensions.
private struct Handlers: Sendable {
    let duration: Timer
    let rows: Recorder
    let retries: Counter
    let sent: Counter
    let received: Counter

    init(_ dimensions: [(String, String)], _ factory: any MetricsFactory) {
        func bytes(_ direction: String) -> Counter {
            Counter(
                label: "filemaker.client.bytes",
                dimensions: dimensions + [("direction", direction)],
                factory: factory
            )
        }
        duration = Timer(label: "db.client.operation.duration", dimensions: dimensions, factory: factory)
        rows = Recorder(label: "db.client.response.returned_rows", dimensions: dimensions, factory: factory)
        retries = Counter(label: "filemaker.client.retries", dimensions: dimensions, factory: factory)
        sent = bytes("sent")
        received = bytes("received")
    }
}
#endif
