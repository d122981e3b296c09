import CustomDump
import NIOCore
import Testing

@testable import FMHTTP

struct RequestFramingTests {
    private let origin = Origin(scheme: .https, host: "fms.example.com")

    private func head(_ request: HTTPRequest, asksForCompression: Bool = false) throws -> String {
        String(buffer: try RequestFraming(request, asksForCompression: asksForCompression).head)
    }

    @Test func aGet() throws {
        expectNoDifference(
            try head(HTTPRequest(origin: origin, target: "/a?b=%20", headers: ["X-A": "1"]), asksForCompression: true),
            "GET /a?b=%20 HTTP/1.1\r\nHost: fms.example.com\r\nX-A: 1\r\nAccept-Encoding: gzip, deflate\r\n\r\n"
        )
    }

    @Test func aSmallBodyTravelsWithTheHead() throws {
        let body = HTTPBody.bytes(ByteBuffer(string: "{}"))
        let request = HTTPRequest(
            method: .PATCH,
            origin: Origin(scheme: .http, host: "[::1]", port: 3000),
            target: "/",
            body: body
        )
        expectNoDifference(try head(request), "PATCH / HTTP/1.1\r\nHost: [::1]:3000\r\nContent-Length: 2\r\n\r\n{}")
    }

    @Test func aPostWithoutABodySaysSo() throws {
        #expect(try head(HTTPRequest(method: .POST, origin: origin, target: "/")).contains("Content-Length: 0\r\n"))
        #expect(try !head(HTTPRequest(method: .DELETE, origin: origin, target: "/")).contains("Content-Length"))
    }

    @Test func aLargeBodyFollows() throws {
        let bytes = ByteBuffer(repeating: 0, count: 100_000)
        let framing = try RequestFraming(
            HTTPRequest(method: .PUT, origin: origin, target: "/", body: .bytes(bytes)),
            asksForCompression: false
        )
        #expect(framing.bodyLength == 100_000)
        #expect(String(buffer: framing.head).hasSuffix("Content-Length: 100000\r\n\r\n"))
    }

    @Test func aRequestMayAskToClose() throws {
        let request = HTTPRequest(origin: origin, target: "/", headers: ["connection": "Close"])
        #expect(try RequestFraming(request, asksForCompression: false).closesConnection)
    }

    @Test(arguments: [
        HTTPRequest(origin: Origin(scheme: .https, host: ""), target: "/"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a b"), target: "/"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a/b"), target: "/"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a@b"), target: "/"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a\r\nX: y"), target: "/"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a", port: 0), target: "/"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a", port: 65536), target: "/"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: ""),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "a"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/a b"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/é"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/a#b"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/a\r\nX: y"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/\u{0}"),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/", headers: ["": "x"]),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/", headers: ["X Y": "x"]),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/", headers: ["X": "a\r\nY: b"]),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/", headers: ["X": "a\n"]),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/", headers: ["X": "a\u{0}"]),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/", headers: ["Content-Length": "1"]),
        HTTPRequest(origin: Origin(scheme: .https, host: "a"), target: "/", headers: ["transfer-encoding": "chunked"]),
        HTTPRequest(method: .RAW(value: "G T"), origin: Origin(scheme: .https, host: "a"), target: "/"),
        HTTPRequest(method: .RAW(value: ""), origin: Origin(scheme: .https, host: "a"), target: "/"),
        HTTPRequest(method: .CONNECT, origin: Origin(scheme: .https, host: "a"), target: "/"),
    ])
    func refuses(request: HTTPRequest) {
        let error = #expect(throws: HTTPClientError.self) { try RequestFraming(request, asksForCompression: false) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.outcome == .notSent)
    }

    @Test func refusesABodyOfNegativeLength() {
        let body = HTTPBody.stream(length: -1, isReplayable: true) { fatalError("never asked") }
        #expect(throws: HTTPClientError.self) {
            try RequestFraming(HTTPRequest(origin: origin, target: "/", body: body), asksForCompression: false)
        }
    }
}
