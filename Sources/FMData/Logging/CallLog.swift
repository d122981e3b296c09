import FMHTTP
import Logging
import NIOCore

/// The log of one call, at `debug`: one line, when the call has ended. Every exchange of the library logs its end here:
/// answers and uploads, streams of records, logins and logouts, contents of containers.
///
/// It receives only names, so it cannot print a value, parameter or token. Its keys are listed at
/// ``DataAPI/Config/logger``.
struct CallLog: Sendable {
    private let logger: Logger
    /// The subject of the line: "call", "login", "logout".
    private let kind: String
    private let hasMessages: Bool
    private let now: @Sendable () -> NIODeadline
    private let started: NIODeadline

    /// - Parameter origin: `nil` for a server whose host text names none.
    init<Response>(
        _ logger: Logger,
        of request: DataAPIRequest<Response>,
        to origin: Origin?,
        now: @escaping @Sendable () -> NIODeadline
    ) {
        self.init(
            logger,
            now: now,
            kind: request.path.sessionCall ?? "call",
            hasMessages: request.root == .dataAPI,
            metadata: [
                "origin": origin.map { "\($0)" }, "method": request.method.rawValue,
                "path": request.path.template,
                "database": request.path.database, "layout": request.layout, "tag": request.context.tag,
            ]
        )
    }

    /// The log of fetching a container's content. The path is left out, since it is a field's value and gives access to
    /// the content.
    init(
        _ logger: Logger,
        ofContentFrom origin: Origin,
        tag: String?,
        now: @escaping @Sendable () -> NIODeadline
    ) {
        self.init(
            logger,
            now: now,
            kind: "call",
            hasMessages: false,
            metadata: ["origin": "\(origin)", "method": "GET", "path": "/{content}", "tag": tag]
        )
    }

    private init(
        _ logger: Logger,
        now: @escaping @Sendable () -> NIODeadline,
        kind: String,
        hasMessages: Bool,
        metadata: [String: String?]
    ) {
        var logger = logger
        for (key, value) in metadata { logger[metadataKey: key] = value.map { "\($0)" } }
        self.logger = logger
        self.now = now
        started = now()
        self.kind = kind
        self.hasMessages = hasMessages
    }

    /// The answer reported success, and was read to its end.
    func finished(httpStatus: Int?) {
        write("finished", httpStatus, hasMessages ? FileMakerErrorCode.ok : nil)
    }

    func failed(_ error: FMRest.APIError, httpStatus: Int?) {
        write("failed", error.httpStatus ?? httpStatus, error.fileMakerCode, error: error.code)
    }

    func cancelled() { write("cancelled", nil, nil) }

    /// The call failed, and another attempt follows after a pause.
    func willTryAgain(after error: FMRest.APIError, attempt: Int, pause: TimeAmount) {
        var metadata: Logger.Metadata = [
            "attempt": "\(attempt)", "pause_ms": "\(pause.nanoseconds / 1_000_000)", "error": "\(error.code)",
        ]
        metadata["http_status"] = error.httpStatus.map { "\($0)" }
        metadata["filemaker_code"] = error.fileMakerCode.map { "\($0.rawValue)" }
        logger.debug("\(kind) is tried again after a pause", metadata: metadata)
    }

    private func write(
        _ end: String,
        _ httpStatus: Int?,
        _ code: FileMakerErrorCode?,
        error: FMRest.APIError.Code? = nil
    ) {
        var metadata: Logger.Metadata = [
            "duration_ms": "\(Double((now() - started).nanoseconds / 1000) / 1000)"
        ]
        metadata["http_status"] = httpStatus.map { "\($0)" }
        metadata["filemaker_code"] = code.map { "\($0.rawValue)" }
        metadata["error"] = error.map { "\($0)" }
        logger.debug("\(kind) \(end)", metadata: metadata)
    }
}
