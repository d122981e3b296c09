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
        private let facts: RequestFacts
        /// The request with its secrets, without what may have been changed.
        private let http: HTTPRequest
        /// The beginning of the target that ``rootPath`` takes the place of.
        private let root: String
        /// `nil` as long as no step has changed them.
        private var changedHeaders: Headers?

        /// What the request asks for.
        public var operation: Operation { facts.operation }
        /// The method, as in `POST`.
        public var method: String { http.method.rawValue }
        /// The path below ``rootPath`` with names, and with placeholders for everything else:
        /// `/databases/Contacts/layouts/People/records/{recordId}`.
        public var pathTemplate: String { facts.path?.template ?? "/{content}" }
        /// The database; `nil` for calls of the server.
        public var database: String? { facts.path?.database }
        /// The layout; `nil` for calls of a server or of a database.
        public var layout: String? { facts.layout }
        /// The record; `nil` for calls that do not name one.
        public var recordId: Int? { facts.path?.recordId }
        /// The number of this attempt of the call, from 1 on. A call has several when a session was refused, and with
        /// ``Calling/retrying(_:)``.
        public var attempt: Int { facts.context.attempt }
        /// The name of the work that the call belongs to; see ``Calling/tagged(_:)``.
        public var tag: String? { facts.context.tag }
        /// Whether the host may see the request twice: a read, or a find that runs no script.
        public var isSafeToRepeat: Bool { http.isSafeToRepeat }
        /// Whether a live query makes the call to detect changes.
        public var isPoll: Bool { facts.context.isPoll }
        /// Scheme, host and port, as in `https://fms.example.com`.
        public var origin: String { "\(http.origin)" }
        /// The first part of the path, as in `/fmi/data/vLatest`; empty for a request that is no call of the Data API.
        public var rootPath: String
        /// The headers, except those that authenticate or frame the request. A header that the client itself writes
        /// must not be added (`Authorization`, `Cookie`, `Host`, `Connection`, `Content-Length`, `Transfer-Encoding`
        /// and the headers of a sign-in by OAuth): the call then fails with ``FMRest/APIError/Code/invalidRequest``.
        public var headers: Headers {
            get {
                if let changedHeaders { return changedHeaders }
                return Headers(http.headers.lazy.filter { !Self.isReserved($0.name) })
            }
            set { changedHeaders = newValue }
        }

        /// The part of the target behind ``rootPath``; may be secret.
        private var target: Substring { http.target.dropFirst(root.count) }

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

        /// The URL of a container's content, which is secret; `nil` for calls.
        package var contentURL: String? { operation == .downloadContainer ? origin + target : nil }

        /// The names of options whose values must not be written down anywhere.
        package var confidentialOptions: Set<String> {
            Set(facts.options.lazy.filter { $0.disclosure == .confidential }.map(\.name))
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
    static let reservedHeaders = [
        "authorization", "cookie", "host", "connection", "content-length", "transfer-encoding", "te", "trailer",
        "upgrade", "expect", "accept-encoding", "x-fm-data-oauth-request-id", "x-fm-data-oauth-identifier",
    ]

    /// - Parameter root: the beginning of the request's target that may be changed.
    init(_ facts: RequestFacts, as http: HTTPRequest, below root: String) {
        self.facts = facts
        self.http = http
        self.root = root
        rootPath = root
    }

    private static func isReserved(_ name: String) -> Bool {
        let length = name.utf8.count
        return reservedHeaders.contains { $0.utf8.count == length && $0 == name.lowercased() }
    }

    fileprivate static func refuseReserved(_ headers: DataAPI.Headers) throws(FMRest.APIError) {
        guard let name = headers.fields.first(where: { isReserved($0.name) })?.name else { return }
        throw FMRest.APIError(.invalidRequest, reason: "A middleware cannot set the header \(name).")
    }

    /// The request as it will be sent.
    func sent() throws(FMRest.APIError) -> HTTPRequest {
        var request = http
        if rootPath != root { request.target = rootPath + target }
        guard let changedHeaders else { return request }
        try Self.refuseReserved(changedHeaders)
        request.headers = changedHeaders.fields
        for header in http.headers where Self.isReserved(header.name) {
            request.headers.add(name: header.name, value: header.value)
        }
        return request
    }
}

extension HTTPRequest {
    /// Sets headers of a middleware in place of all of the same names.
    mutating func set(_ new: DataAPI.Headers) throws(FMRest.APIError) {
        try DataAPI.OutgoingRequest.refuseReserved(new)
        var all = DataAPI.Headers(headers)
        all.replace(by: new)
        headers = all.fields
    }
}

/// What a middleware is told of a request beyond what the HTTP client sends.
struct RequestFacts: Sendable {
    let operation: DataAPI.Operation
    /// The path; `nil` for the content of a container, whose path is secret.
    var path: DataAPIPath?
    var layout: String?
    var options: [WireOption] = []
    let context: RequestContext
}

extension DataAPIRequest {
    /// What a middleware is told of the request.
    func facts(_ operation: DataAPI.Operation) -> RequestFacts {
        RequestFacts(operation: operation, path: path, layout: layout, options: options, context: context)
    }
}

extension DataAPI.OutgoingRequest: CustomStringConvertible, CustomReflectable {
    /// The operation, the method and the path with placeholders.
    public var description: String { "\(operation): \(method) \(pathTemplate)" }

    /// Shows the ``description`` only.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
