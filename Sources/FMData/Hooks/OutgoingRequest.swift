import FMHTTP
public import Foundation
import NIOCore
import NIOFoundationCompat
public import OpenCombine

extension DataAPI {
    /// A request that is about to be sent, as a ``Middleware`` sees it: what it is for, and what may be changed of it.
    ///
    /// It shows no password, token or cookie, and its description no value. What a middleware cannot change is decided
    /// by the client: the headers that authenticate the request, those that frame it, and its body.
    public struct OutgoingRequest: Sendable {
        /// What the request asks for.
        public let operation: Operation
        /// The method, as in `POST`.
        public let method: String
        /// The path below ``rootPath`` with names, and with placeholders for everything else:
        /// `/databases/Contacts/layouts/People/records/{recordId}`.
        public let pathTemplate: String
        /// The database; `nil` for calls of the server.
        public let database: String?
        /// The layout; `nil` for calls of a server or of a database.
        public let layout: String?
        /// The record; `nil` for calls that do not name one.
        public let recordId: Int?
        /// The number of this attempt of the call, from 1 on. A call has several when a session was refused, and with
        /// ``Calling/retrying(_:)``.
        public let attempt: Int
        /// The name of the work that the call belongs to; see ``Calling/tagged(_:)``.
        public let tag: String?
        /// Whether the host may see the request twice: a read, or a find that runs no script.
        public let isSafeToRepeat: Bool
        /// Whether a live query makes the call to detect changes.
        public let isPoll: Bool
        /// Scheme, host and port, as in `https://fms.example.com`.
        public var origin: String { "\(http.origin)" }
        /// The first part of the path, as in `/fmi/data/vLatest`; empty for a request that is no call of the Data API.
        public var rootPath: String
        /// The headers, except those that authenticate or frame the request. A header that the client itself writes
        /// must not be added (`Authorization`, `Cookie`, `Host`, `Connection`, `Content-Length`, `Transfer-Encoding`
        /// and the headers of a sign-in by OAuth): the call then fails with ``FMRest/APIError/Code/invalidRequest``.
        public var headers: Headers

        /// The request with its secrets, without what may have been changed.
        private let http: HTTPRequest
        /// The part of the target behind ``rootPath``; may be secret.
        private let target: String

        /// The parameters of the URL, decoded, in their order: ranges, sort orders, portals, scripts and what they are
        /// given. Empty for the content of a container, whose URL is secret as a whole.
        public var query: [(name: String, value: String)] {
            guard operation != .downloadContainer, let mark = target.firstIndex(of: "?") else { return [] }
            return target[target.index(after: mark)...].split(separator: "&").map { item in
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    .map { $0.removingPercentEncoding ?? String($0) }
                return (name: parts[0], value: parts.dropFirst().first ?? "")
            }
        }

        /// The number of bytes of the body; 0 if there is none.
        public var bodyLength: Int { http.body.length ?? 0 }

        /// The bytes of the body, for a signature or a recording: the fields and parameters that the program sends.
        ///
        /// Publishes pieces on demand, and finishes. Fails with the error of the file that is uploaded. Reading it does
        /// not take it away from the request, but for an upload that can be read only once: then it fails with
        /// ``FMRest/APIError/Code/invalidRequest``.
        public var body: AnyPublisher<Data, FMRest.APIError> {
            http.body.pieces.map { Data(buffer: $0) }
                .mapError { FMRest.APIError(wrapping: $0, otherwise: .invalidRequest) }
                .eraseToAnyPublisher()
        }
    }
}

extension DataAPI.OutgoingRequest {
    /// The headers that the client writes itself, in lower case.
    static let reservedHeaders: Set<String> = [
        "authorization", "cookie", "host", "connection", "content-length", "transfer-encoding", "te", "trailer",
        "upgrade", "expect", "accept-encoding", "x-fm-data-oauth-request-id", "x-fm-data-oauth-identifier",
    ]

    /// - Parameter root: the beginning of the request's target that may be changed.
    init(_ facts: RequestFacts, as http: HTTPRequest, below root: String) {
        operation = facts.operation
        method = http.method.rawValue
        pathTemplate = facts.pathTemplate
        database = facts.database
        layout = facts.layout
        recordId = facts.recordId
        attempt = facts.context.attempt
        tag = facts.context.tag
        isPoll = facts.context.isPoll
        isSafeToRepeat = http.isSafeToRepeat
        rootPath = root
        target = String(http.target.dropFirst(root.count))
        headers = DataAPI.Headers(
            HTTPHeaders(http.headers.filter { !Self.isReserved($0.name) }.map { ($0.name, $0.value) })
        )
        self.http = http
    }

    private static func isReserved(_ name: String) -> Bool { reservedHeaders.contains(name.lowercased()) }

    /// The request as it will be sent.
    func sent() throws(FMRest.APIError) -> HTTPRequest {
        if let name = headers.fields.first(where: { Self.isReserved($0.name) })?.name {
            throw FMRest.APIError(.invalidRequest, reason: "A middleware cannot set the header \(name).")
        }
        var request = http
        request.target = rootPath + target
        request.headers = headers.fields
        for header in http.headers where Self.isReserved(header.name) {
            request.headers.add(name: header.name, value: header.value)
        }
        return request
    }
}

/// What a middleware is told of a request beyond what the HTTP client sends.
struct RequestFacts: Sendable {
    let operation: DataAPI.Operation
    let pathTemplate: String
    var database: String?
    var layout: String?
    var recordId: Int?
    let context: RequestContext
}

extension DataAPIRequest {
    /// What a middleware is told of the request.
    var facts: RequestFacts {
        RequestFacts(
            operation: operation,
            pathTemplate: path.template,
            database: path.database,
            layout: layout,
            recordId: path.recordId,
            context: context
        )
    }
}

extension DataAPI.OutgoingRequest: CustomStringConvertible, CustomReflectable {
    /// The operation, the method and the path with placeholders.
    public var description: String { "\(operation): \(method) \(pathTemplate)" }

    /// Shows the ``description`` only.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
