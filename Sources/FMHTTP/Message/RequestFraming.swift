internal import NIOCore
internal import NIOHTTP1

/// A request in its wire form: checked, framed and written once. Request headers are not read again later.
struct RequestFraming: Sendable {
    /// Request line and headers, and a small body too, so that one write sends everything.
    let head: ByteBuffer
    /// The part of the body that is written after the head.
    let body: Body
    let method: HTTPMethod
    /// Whether the request itself asked for `Connection: close`.
    let closesConnection: Bool

    enum Body: Sendable {
        case none
        case bytes(ByteBuffer)
        case stream(BodyStream)
    }

    /// The number of bytes that follow the head.
    var bodyLength: Int {
        switch body {
        case .none: 0
        case .bytes(let bytes): bytes.readableBytes
        case .stream(let stream): stream.length
        }
    }

    /// Bodies up to this size are copied behind the head: copying some kilobytes costs less than a second write.
    private static let inlineBodyBytes = 16 * 1024

    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/invalidRequest``.
    init(_ request: HTTPRequest, asksForCompression: Bool) throws(HTTPClientError) {
        var headers = RequestHeaders()
        if let problem = Self.problem(of: request) ?? headers.read(request.headers) {
            throw HTTPClientError(.invalidRequest, .notSent, origin: request.origin, detail: problem)
        }
        method = request.method
        closesConnection = headers.closesConnection

        var head = ByteBuffer()
        head.reserveCapacity(512)
        head.writeString(request.method.rawValue)
        head.writeStaticString(" ")
        head.writeString(request.target)
        head.writeStaticString(" HTTP/1.1\r\n")
        if !headers.hasHost { head.writeHeader("Host", request.origin.authority) }
        for (name, value) in request.headers { head.writeHeader(name, value) }
        if asksForCompression, !headers.hasAcceptEncoding { head.writeHeader("Accept-Encoding", "gzip, deflate") }
        if let length = request.body.length ?? (Self.expectsBody(request.method) ? 0 : nil) {
            head.writeHeader("Content-Length", String(length))
        }
        head.writeStaticString("\r\n")

        switch request.body.content {
        case .none:
            body = .none
        case .bytes(let bytes) where bytes.readableBytes <= Self.inlineBodyBytes:
            head.writeImmutableBuffer(bytes)
            body = .none
        case .bytes(let bytes):
            body = .bytes(bytes)
        case .stream(let stream):
            body = .stream(stream)
        }
        self.head = head
    }

    /// Whether `Content-Length: 0` is sent if there is no body (RFC 9110 §8.6).
    private static func expectsBody(_ method: HTTPMethod) -> Bool {
        switch method {
        case .POST, .PUT, .PATCH: true
        default: false
        }
    }

    private static func problem(of request: HTTPRequest) -> String? {
        if !request.method.rawValue.utf8.isToken { return "the method is not a token" }
        if request.method == .CONNECT { return "CONNECT is the client's own" }
        if !HostGrammar.isValid(request.origin.host) { return "the host is invalid" }
        if !(1...65535).contains(request.origin.port) { return "the port is not in 1...65535" }
        guard request.target.utf8.first == UInt8(ascii: "/") else { return "the target does not begin with \"/\"" }
        // Spaces, controls, and anything beyond ASCII. Percent-encoding is left to the caller, who knows the meaning of
        // each part.
        if !request.target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) {
            return "the target is not percent-encoded"
        }
        if let length = request.body.length, length < 0 { return "the length of the body is negative" }
        return nil
    }
}

/// The facts about a request's own headers that the client needs, collected in the pass that checks them.
private struct RequestHeaders {
    private(set) var hasHost = false
    private(set) var hasAcceptEncoding = false
    private(set) var closesConnection = false

    /// Reads the headers. Returns what is wrong with them, or `nil`.
    mutating func read(_ headers: HTTPHeaders) -> String? {
        for (name, value) in headers {
            let letters = name.utf8
            // A bad name may be a secret in the wrong place, so the message does not repeat it.
            if !letters.isToken { return "a header name is not a token" }
            if !value.utf8.allSatisfy(\.isFieldValueByte) {
                return "the value of header \(name) has a control character"
            }
            // The length of a name excludes nearly all candidates without comparing letters.
            switch letters.count {
            case 4 where letters.isSame(as: "host"): hasHost = true
            case 10 where letters.isSame(as: "connection"):
                value.utf8.forEachListElement { if $0.isSame(as: "close") { closesConnection = true } }
            case 15 where letters.isSame(as: "accept-encoding"): hasAcceptEncoding = true
            case 2 where letters.isSame(as: "te"), 7 where letters.isSame(as: "trailer"),
                7 where letters.isSame(as: "upgrade"),
                14 where letters.isSame(as: "content-length"), 17 where letters.isSame(as: "transfer-encoding"):
                return "header \(name) is decided by the client"
            default: break
            }
        }
        return nil
    }
}

extension ByteBuffer {
    fileprivate mutating func writeHeader(_ name: String, _ value: String) {
        writeString(name)
        writeStaticString(": ")
        writeString(value)
        writeStaticString("\r\n")
    }
}
