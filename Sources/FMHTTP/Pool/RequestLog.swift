internal import Logging
internal import NIOCore

/// Logs one request at `trace`: a line per attempt and one at the end. The level is not `debug`, where the user of this
/// client logs a line of its own for the same request. It gets no target, header or body, so it cannot print one: even
/// a path can contain a secret (the token at the end of a logout's).
struct RequestLog: Sendable {
    private let logger: Logger
    private let runtime: Runtime
    private let started: NIODeadline

    init?(_ logger: Logger?, id: RequestID, request: HTTPRequest, runtime: Runtime) {
        // The level is read once: without a log a request costs nothing here.
        guard var logger, logger.logLevel <= .trace else { return nil }
        logger[metadataKey: LogKey.httpRequest] = "\(id.number)"
        logger[metadataKey: LogKey.method] = "\(request.method.rawValue)"
        logger[metadataKey: LogKey.origin] = "\(request.origin)"
        self.logger = logger
        self.runtime = runtime
        started = runtime.now
    }

    func sending(attempt: Int, on connection: ConnectionID) {
        logger.trace(
            "sending request",
            metadata: [
                LogKey.httpAttempt: "\(attempt)", LogKey.httpConnection: "\(connection.number)",
                LogKey.waited: milliseconds(),
            ]
        )
    }

    func retrying(_ error: HTTPClientError) {
        logger.trace("connection was stale, sending request once more", metadata: [LogKey.error: "\(error.code)"])
    }

    func finished(_ figures: ExchangeFigures) {
        logger.trace(
            "request finished",
            metadata: [
                LogKey.status: "\(figures.status)",
                LogKey.wireBytesIn: "\(figures.wireBodyBytes)",
                LogKey.bytesIn: "\(figures.bodyBytes)",
                LogKey.duration: milliseconds(),
            ]
        )
    }

    func failed(_ error: HTTPClientError) {
        logger.trace(
            "request failed",
            metadata: [
                LogKey.error: "\(error.code)", LogKey.outcome: "\(error.outcome)", LogKey.duration: milliseconds(),
            ]
        )
    }

    func cancelled() {
        logger.trace("request cancelled", metadata: [LogKey.duration: milliseconds()])
    }

    private func milliseconds() -> Logger.MetadataValue {
        "\(Double((runtime.now - started).nanoseconds / 1000) / 1000)"
    }
}
