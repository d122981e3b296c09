/// An HTTP request as the responder uses it, without socket or channel.
struct SandboxRequest: Sendable {
    var method: String
    /// The path and the query as they were sent, percent-encoded.
    var target: String
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// The origin under which the client reached the sandbox, such as `http://127.0.0.1:54321`, for the URLs of
    /// containers.
    var origin: String

    /// The path without scheme and host, which a request to a proxy may have (RFC 9112, section 3.2.2).
    var path: String {
        let path = target.prefix { $0 != "?" }
        guard !path.hasPrefix("/"), let scheme = path.firstRange(of: "://") else { return String(path) }
        return String(path[scheme.upperBound...].drop { $0 != "/" })
    }

    var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}

/// An HTTP response, except for the headers that the connection adds.
struct SandboxResponse: Sendable {
    /// How the response is sent.
    enum Delivery: Sendable {
        case whole
        /// Closes the connection after the answer, which does not announce it.
        case thenClose
        /// Closes the connection after this many bytes of the body.
        case cut(afterBodyBytes: Int)
        /// Sends these bytes in place of the proper answer, and closes the connection.
        case bytes(@Sendable (RawAnswer) -> ArraySlice<UInt8>)
    }

    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// FileMaker's code in the envelope; nil if there is none, as with container bytes and the pages of a web server.
    var code: Int?
    var delivery = Delivery.whole

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }

    var isJSON: Bool { header("content-type")?.hasPrefix("application/json") == true }
}
