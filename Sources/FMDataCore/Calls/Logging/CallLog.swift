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

    /// - Parameters:
    ///   - session: the name of the session, not its token.
    ///   - origin: `nil` for a server whose host text names none.
    ///   - begun: when the call has begun; `nil` for now.
    init<Response>(
        _ logger: Logger,
        of request: DataAPIRequest<Response>,
        in session: String?,
        to origin: Origin?,
        since begun: NIODeadline?,
        now: @escaping @Sendable () -> NIODeadline
    ) {
        let attempt = request.context.attempt
        self.init(
            logger,
            since: begun,
            now: now,
            kind: request.path.sessionCall ?? "call",
            hasMessages: request.root == .dataAPI,
            metadata: [
                LogKey.origin: origin.map { "\($0)" },
                LogKey.method: request.method.rawValue, LogKey.path: request.path.template,
                LogKey.operation: request.operation.rawValue,
                LogKey.database: request.path.database, LogKey.layout: request.layout,
                LogKey.record: request.path.recordId.map(String.init), LogKey.tag: request.context.tag,
                LogKey.attempt: attempt > 1 ? "\(attempt)" : nil,
                LogKey.session: session,
            ]
        )
    }

    /// The log of fetching a container's content. The path is left out, since it is a field's value and gives access to
    /// the content.
    init(
        _ logger: Logger,
        ofContentFrom origin: Origin,
        operation: String,
        tag: String?,
        now: @escaping @Sendable () -> NIODeadline
    ) {
        self.init(
            logger,
            since: nil,
            now: now,
            kind: "call",
            hasMessages: false,
            metadata: [
                LogKey.origin: "\(origin)", LogKey.method: "GET", LogKey.path: "/{content}",
                LogKey.operation: operation, LogKey.tag: tag,
            ]
        )
    }

    private init(
        _ logger: Logger,
        since begun: NIODeadline?,
        now: @escaping @Sendable () -> NIODeadline,
        kind: String,
        hasMessages: Bool,
        metadata: [String: String?]
    ) {
        var logger = logger
        for (key, value) in metadata { logger[metadataKey: key] = value.map { "\($0)" } }
        self.logger = logger
        self.now = now
        started = begun ?? now()
        self.kind = kind
        self.hasMessages = hasMessages
    }

    /// The answer reported success, and was read to its end.
    func finished(_ figures: CallFigures) {
        write("finished", figures) { metadata in
            if hasMessages { metadata[LogKey.code] = "\(FileMakerErrorCode.ok.rawValue)" }
        }
    }

    func failed(_ error: FMRest.APIError, _ figures: CallFigures) {
        write("failed", figures) { $0.add(error) }
    }

    func cancelled() { write("cancelled", CallFigures()) { _ in } }

    /// The call failed, and another attempt follows after a pause.
    func willTryAgain(after error: FMRest.APIError, attempt: Int, pause: TimeAmount) {
        var metadata: Logger.Metadata = [
            LogKey.attempt: "\(attempt)", LogKey.pause: pause.logged,
        ]
        metadata.add(error)
        logger.debug("\(kind) is tried again after a pause", metadata: metadata)
    }

    private func write(_ end: String, _ figures: CallFigures, _ more: (inout Logger.Metadata) -> Void) {
        var metadata = figures.metadata
        metadata[LogKey.duration] = (now() - started).logged
        more(&metadata)
        logger.debug("\(kind) \(end)", metadata: metadata)
    }
}

/// What is counted of an exchange for its line in the log.
struct CallFigures: Sendable {
    var httpStatus: Int?
    /// The number of records in the answer; `nil` if the answer is about something else.
    var rows: Int?
    /// The bytes of the answer's body, after decompression; `nil` before an answer came.
    var bytesIn: Int?
    /// The bytes of the request's body; `nil` without one.
    var bytesOut: Int?
    /// The name of the session that the exchange has opened.
    var session: String?

    mutating func note(_ part: HTTPResponsePart) {
        switch part {
        case .head(let head):
            httpStatus = Int(head.status.code)
            bytesIn = 0
        case .body(let bytes): bytesIn = (bytesIn ?? 0) + bytes.readableBytes
        }
    }

    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        metadata[LogKey.status] = httpStatus.map { "\($0)" }
        metadata[LogKey.rows] = rows.map { "\($0)" }
        metadata[LogKey.bytesIn] = bytesIn.map { "\($0)" }
        metadata[LogKey.bytesOut] = bytesOut.map { "\($0)" }
        if let session { metadata[LogKey.session] = "\(session)" }
        return metadata
    }
}
