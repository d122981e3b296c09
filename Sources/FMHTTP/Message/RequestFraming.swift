internal import NIOCore
internal import NIOHTTP1

/// A request made ready for the wire, once: checked, framed and written. Nothing later reads request headers again.
struct RequestFraming: Sendable {
    /// Request line and headers, and a small body too, so that one write sends all.
    let head: ByteBuffer
    /// What follows the head.
    let body: Body
    let method: HTTPMethod
    /// Whether the request itself asked for `Connection: close`.
    let closesConnection: Bool

    enum Body: Sendable {
        case none
        case bytes(ByteBuffer)
        case stream(BodyStream)
    }

    /// The bytes that follow the head.
    var bodyLength: Int {
        switch body {
        case .none: 0
        case .bytes(let bytes): bytes.readableBytes
        case .stream(let stream): stream.length
        }
    }

    /// Bodies up to this size are copied behind the head: a copy of some kilobytes costs less than a second write.
    private static let inlineBodyBytes = 16 * 1024

    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/invalidRequest``.
    init(_ request: HTTPRequest, asksForCompression: Bool) throws(HTTPClientError) {
        if let problem = Self.problem(of: request) {
            throw HTTPClientError(.invalidRequest, .notSent, origin: request.origin, detail: problem)
        }
        method = request.method
        closesConnection = request.headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }

        var head = ByteBuffer()
        head.reserveCapacity(512)
        head.writeString(request.method.rawValue)
        head.writeString(" ")
        head.writeString(request.target)
        head.writeString(" HTTP/1.1\r\n")
        if !request.headers.contains(name: "host") { head.writeHeader("Host", request.origin.authority) }
        for (name, value) in request.headers { head.writeHeader(name, value) }
        if asksForCompression, !request.headers.contains(name: "accept-encoding") {
            head.writeHeader("Accept-Encoding", "gzip, deflate")
        }
        if let length = request.body.length ?? (Self.expectsBody(request.method) ? 0 : nil) {
            head.writeHeader("Content-Length", String(length))
        }
        head.writeString("\r\n")

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

    /// Methods for which a missing body is worth saying (RFC 9110 §8.6).
    private static func expectsBody(_ method: HTTPMethod) -> Bool {
        switch method {
        case .POST, .PUT, .PATCH: true
        default: false
        }
    }

    private static func problem(of request: HTTPRequest) -> String? {
        if !isToken(request.method.rawValue) { return "the method is not a token" }
        if request.method == .CONNECT { return "CONNECT is the client's own" }
        if request.origin.host.isEmpty || !request.origin.host.utf8.allSatisfy(isHostByte) {
            return "the host is invalid"
        }
        if !(1...65535).contains(request.origin.port) { return "the port is not in 1...65535" }
        guard request.target.utf8.first == UInt8(ascii: "/") else { return "the target does not begin with \"/\"" }
        // Spaces, controls, and anything beyond ASCII: percent-encoding is the caller's, who knows what each piece means.
        if !request.target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) {
            return "the target is not percent-encoded"
        }
        for (name, value) in request.headers {
            // The text of a bad name may be a secret in the wrong place, so the message does not repeat it.
            if !isToken(name) { return "a header name is not a token" }
            if !value.utf8.allSatisfy(\.isFieldValueByte) {
                return "the value of header \(name) has a control character"
            }
            switch name.lowercased() {
            case "content-length", "transfer-encoding", "upgrade", "te", "trailer":
                return "header \(name) is decided by the client"
            default:
                break
            }
        }
        if let length = request.body.length, length < 0 { return "the length of the body is negative" }
        return nil
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { tokenBytes[Int($0)] }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        default:
            false
        }
    }

    static let tokenBytes: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        for byte in "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8 {
            table[Int(byte)] = true
        }
        return table
    }()
}

extension ByteBuffer {
    fileprivate mutating func writeHeader(_ name: String, _ value: String) {
        writeString(name)
        writeStaticString(": ")
        writeString(value)
        writeStaticString("\r\n")
    }
}
