public import NIOHTTP1

/// One HTTP request, as a value: it can be kept and sent any number of times.
///
/// It is not checked when it is made; ``HTTPClient`` rejects an invalid one with
/// ``HTTPClientError/Code/invalidRequest`` before a byte is sent.
public struct HTTPRequest: Sendable {
    /// The method. The default is `GET`.
    public var method: HTTPMethod
    /// The server of the request, and the only one that its headers are ever sent to.
    public var origin: Origin
    /// Path and query, percent-encoded, beginning with `/`: `/fmi/data/vLatest/databases?x=1`.
    public var target: String
    /// Headers. `Host`, `Connection`, `Content-Length` and `Accept-Encoding` are added by the client; framing headers
    /// given here (`Content-Length`, `Transfer-Encoding`) are rejected, because they follow from the body.
    public var headers: HTTPHeaders
    /// The body. The default is none.
    public var body: HTTPBody
    /// Whether the server may safely see this request twice. The default is `false`.
    ///
    /// Set it to `true` for requests that change nothing (a read, a find without scripts): such a request is sent once
    /// more when a kept-alive connection turns out to have been closed by the server. All others are repeated only if
    /// provably no byte of them reached the server.
    public var isSafeToRepeat: Bool
    /// Time limits for this request; `nil` means those of the client's configuration.
    public var timeouts: HTTPTimeouts?
    /// The most bytes the response's body may have, after decompression; `nil` means the client's limit.
    public var maximumBodyBytes: Int?
    /// Called on the connection's event loop each time the request is about to be written: it has a connection and
    /// waits no longer.
    package var willBeSent: (@Sendable () -> Void)?

    /// A request; each property documents its part.
    public init(
        method: HTTPMethod = .GET,
        origin: Origin,
        target: String,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none,
        isSafeToRepeat: Bool = false,
        timeouts: HTTPTimeouts? = nil,
        maximumBodyBytes: Int? = nil
    ) {
        self.method = method
        self.origin = origin
        self.target = target
        self.headers = headers
        self.body = body
        self.isSafeToRepeat = isSafeToRepeat
        self.timeouts = timeouts
        self.maximumBodyBytes = maximumBodyBytes
    }
}

extension HTTPRequest: CustomStringConvertible, CustomReflectable {
    /// Method and origin. Everything else may contain secrets (a path can end in a session token) and is omitted, also
    /// from `dump`.
    public var description: String { "\(method.rawValue) \(origin)" }

    /// Shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
