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

extension DataAPIPath {
    /// The path with the names of database, layout, script and field, percent-encoded, and `{…}` for everything else:
    /// `/databases/Contacts/layouts/People/records/{recordId}`.
    var template: String {
        var text = ""
        for (index, segment) in segments.enumerated() {
            text += "/" + (placeholder(at: index) ?? segment.percentEncoded)
        }
        return text
    }

    private func placeholder(at index: Int) -> String? {
        guard segments[0] == "databases" else { return nil }
        return switch (index, segments[safe: 2], segments[safe: 4], segments[safe: 6]) {
        case (3, "sessions", _, _): "{token}"
        case (5, "layouts", "records", _): "{recordId}"
        case (8, "layouts", "records", "containers"): "{repetition}"
        default: nil
        }
    }

    /// "login" or "logout", if it is the path of one.
    fileprivate var sessionCall: String? {
        guard segments[0] == "databases", segments[safe: 2] == "sessions" else { return nil }
        return segments.count == 3 ? "login" : "logout"
    }

    fileprivate var database: String? { segments[0] == "databases" ? segments[safe: 1] : nil }
}

extension [String] {
    fileprivate subscript(safe index: Int) -> String? { indices.contains(index) ? self[index] : nil }
}
