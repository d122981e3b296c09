/// An HTTP request as the responder sees it: no socket, no channel.
struct SandboxRequest: Sendable {
    var method: String
    /// The path and the query as they came, percent-encoded.
    var target: String
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// `http://127.0.0.1:54321`: where the client reached the sandbox, for the URLs of containers.
    var origin: String

    /// Without scheme and host, which a request to a proxy may have (RFC 9112, section 3.2.2).
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

/// An HTTP response, complete but for what the connection adds to its head.
struct SandboxResponse: Sendable {
    /// How it goes on the wire.
    enum Delivery: Sendable {
        case whole
        /// Closes the connection behind the answer, which does not announce it.
        case thenClose
        /// Closes the connection after this many bytes of the body.
        case cut(afterBodyBytes: Int)
        /// Sends these bytes instead of the answer as it should be, and closes the connection.
        case bytes(@Sendable (RawAnswer) -> ArraySlice<UInt8>)
    }

    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// FileMaker's code in the envelope; nil for what has none, as container bytes and the pages of a web server.
    var code: Int?
    var delivery = Delivery.whole

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }

    var isJSON: Bool { header("content-type")?.hasPrefix("application/json") == true }
}
