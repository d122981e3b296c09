import FMHTTP
public import Foundation
import NIOCore
import NIOFoundationCompat
public import OpenCombine

extension DataAPI {
    /// What carries requests to hosts and brings their responses. The default is the library's own HTTP client; another
    /// one is set as ``Config/transport``: one that answers from memory in a test, or another HTTP client.
    ///
    /// Everything above it stays as it is: sessions, retries, reading, live queries.
    public protocol Transport: Sendable {
        /// Publishes the parts of the response: one head, pieces of the body, and the end.
        ///
        /// Each subscription sends the request once; nothing is sent before the first demand. A demand is a number of
        /// parts, and no more than asked for may arrive. Cancelling ends the exchange. A failure says in its
        /// ``TransportError`` `outcome` what is known of the request: `notSent` only if the host has certainly not
        /// acted on it, since such a request is sent again.
        func parts(of request: TransportRequest) -> AnyPublisher<ResponsePart, TransportError>

        /// Closes what is open. Called at the end of ``Server/shutdown(isolation:)``. The default does nothing.
        func shutdown() -> AnyPublisher<Void, Never>
    }

    /// A request as a ``Transport`` sends it, complete and **with its secrets**: do not log it. Its description shows
    /// method and origin only.
    public struct TransportRequest: Sendable {
        let http: HTTPRequest
        /// The request as middleware has seen it.
        package let outgoing: OutgoingRequest

        /// - Parameter outgoing: the request as middleware has passed it on.
        init(_ http: HTTPRequest, of outgoing: OutgoingRequest) {
            self.http = http
            self.outgoing = outgoing
        }

        /// What the request asks for.
        public var operation: Operation { outgoing.operation }
        /// The database; `nil` for calls of the server.
        public var database: String? { outgoing.database }
        /// The layout; `nil` for calls of a server or of a database.
        public var layout: String? { outgoing.layout }
        /// The record; `nil` for calls that do not name one.
        public var recordId: Int? { outgoing.recordId }
        /// The method, as in `POST`.
        public var method: String { http.method.rawValue }
        /// Scheme, host and port, as in `https://fms.example.com`.
        public var origin: String { "\(http.origin)" }
        /// Path and query, percent-encoded, with a leading slash. May hold a token.
        public var target: String { http.target }
        /// The complete URL. May hold a token.
        public var url: String { origin + target }
        /// The headers, except `Host`, `Connection`, `Accept-Encoding` and `Content-Length`, which the transport adds.
        public var headers: Headers { Headers(http.headers) }
        /// The number of bytes of the body; `nil` if the request has no body.
        public var bodyLength: Int? { http.body.length }
        /// The bytes of the body, on demand. Fails with the error of the file that is uploaded.
        public var body: AnyPublisher<Data, any Error> {
            http.body.pieces.map { Data(buffer: $0) }.eraseToAnyPublisher()
        }
        /// Whether the host may see the request twice. All others must not be sent again by the transport, unless no
        /// byte of them has left.
        public var isSafeToRepeat: Bool { http.isSafeToRepeat }
        /// The time limits of the request; `nil` for those of ``Config/timeouts``.
        public var timeouts: Timeouts? { http.timeouts }
        /// The greatest number of bytes of the body of the response; `nil` for ``Config/maximumResponseBytes``.
        public var maximumResponseBytes: Int? { http.maximumBodyBytes }
    }
}

extension DataAPI.Transport {
    /// Does nothing.
    public func shutdown() -> AnyPublisher<Void, Never> { Just(()).eraseToAnyPublisher() }
}

extension DataAPI.TransportRequest: CustomStringConvertible, CustomReflectable {
    /// Method and origin.
    public var description: String { http.description }

    /// Shows the ``description`` only.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
