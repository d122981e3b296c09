import CustomDump
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import FMHTTP

/// The parsed response, with its chunks joined: how they were split does not matter.
private struct Parsed: Equatable {
    var informational: [UInt] = []
    var status: UInt?
    var headers: [String] = []
    var body = ""
    var keepsAlive: Bool?
    var isComplete = false
    var problem: ResponseParser.Problem?
}

struct ResponseParserTests {
    private static let limits = ResponseParser.Limits(maximumHeadBytes: 1024, maximumHeaderCount: 16)

    /// Feeds the text in pieces, then, if asked, the end of the connection.
    private func parse(_ pieces: [String], method: HTTPMethod = .GET, closes: Bool = false) -> Parsed {
        var parser = ResponseParser(limits: Self.limits)
        parser.begin(method: method)
        var parsed = Parsed()
        do throws(ResponseParser.Problem) {
            for piece in pieces {
                parser.append(ByteBuffer(string: piece))
                while let event = try parser.next() { parsed.take(event) }
            }
            if closes, let event = try parser.finish() { parsed.take(event) }
        } catch {
            parsed.problem = error
        }
        return parsed
    }

    private func parse(_ text: String, method: HTTPMethod = .GET, closes: Bool = false) -> Parsed {
        parse([text], method: method, closes: closes)
    }

    // MARK: Good responses

    private static let good = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b c \r\n\r\nhello",
        "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n1\r\na\r\n000\r\nX-Trailer: 1\r\nY:\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 799 Made Up\r\nContent-Length: 1\r\nx-empty:\r\n\r\nx",
    ]

    @Test(arguments: good)
    func howBytesAreCutDoesNotMatter(text: String) {
        let whole = parse(text)
        #expect(whole.isComplete)
        #expect(whole.problem == nil)
        for cut in 0...text.count {
            let pieces = [String(text.prefix(cut)), String(text.dropFirst(cut))]
            expectNoDifference(parse(pieces), whole)
        }
        expectNoDifference(parse(text.map { String($0) }), whole)
    }

    /// An independent parser returns the same.
    @Test(arguments: good)
    func agreesWithNIO(text: String) throws {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHTTPClientHandlers()
        try channel.writeOutbound(
            HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"))
        )
        try channel.writeInbound(ByteBuffer(string: text))
        var expected = Parsed()
        while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
            switch part {
            case .head(let head):
                expected.status = head.status.code
                // White space around a value is not part of it (RFC 9110, 5.5); NIO keeps what follows it.
                expected.headers = head.headers.map { name, value in
                    "\(name)=\(String(value.reversed().drop { $0 == " " || $0 == "\t" }.reversed()))"
                }
            case .body(let bytes): expected.body += String(buffer: bytes)
            case .end: expected.isComplete = true
            }
        }
        var actual = parse(text)
        actual.informational = []
        actual.keepsAlive = nil
        expectNoDifference(actual, expected)
        _ = try? channel.finish()
    }

    @Test(arguments: good)
    func everyCutIsNoticed(text: String) {
        for cut in 0..<text.count {
            expectNoDifference(parse(String(text.prefix(cut)), closes: true).problem, .truncated)
        }
    }

    @Test func aBodyWithoutLengthEndsWithTheConnection() {
        let text = "HTTP/1.1 200 OK\r\n\r\nabc"
        #expect(!parse(text).isComplete)
        expectNoDifference(
            parse(text, closes: true),
            Parsed(status: 200, body: "abc", keepsAlive: false, isComplete: true)
        )
    }

    @Test func aResponseToHeadHasNoBody() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        expectNoDifference(
            parse(text, method: .HEAD),
            Parsed(status: 200, headers: ["Content-Length=5"], keepsAlive: true, isComplete: true)
        )
    }

    @Test func aTunnelHasNoBody() {
        #expect(parse("HTTP/1.1 200 OK\r\n\r\n", method: .CONNECT).isComplete)
        #expect(!parse("HTTP/1.1 407 No\r\nContent-Length: 3\r\n\r\n", method: .CONNECT).isComplete)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true, nil),
            ("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", false, nil),
            ("HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 0\r\n\r\n", false, nil),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false, nil),
            ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", true, nil),
            ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=100\r\nContent-Length: 0\r\n\r\n", true, 5),
            ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=0\r\nContent-Length: 0\r\n\r\n", false, 5),
            ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=-1, x\r\nContent-Length: 0\r\n\r\n", true, nil),
        ] as [(String, Bool, Int?)]
    )
    func knowsHowLongAConnectionLives(text: String, keepsAlive: Bool, timeout: Int?) throws {
        var parser = ResponseParser(limits: Self.limits)
        parser.begin(method: .GET)
        parser.append(ByteBuffer(string: text))
        guard case .head(_, let persistence, _) = try parser.next() else {
            Issue.record("no head")
            return
        }
        expectNoDifference(persistence, .init(keepsAlive: keepsAlive, timeout: timeout))
    }

    @Test func whatFollowsAResponseIsLeftOver() throws {
        var parser = ResponseParser(limits: Self.limits)
        parser.begin(method: .GET)
        parser.append(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy"))
        while let event = try parser.next(), event != .end {}
        #expect(parser.isIdle)
        #expect(parser.hasLeftover)
        #expect(String(buffer: parser.takeLeftover()) == "y")
    }

    // MARK: Bad responses

    @Test(arguments: [
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 -20 OK\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "\r\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
        "HTTP/1.1 200 OK\r\nblank : x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\n\r\n",
        "HTTP/1.1 200 OK\nX: bare\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1 x\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nnot a trailer\r\n",
    ])
    func refuses(text: String) {
        let whole = parse(text)
        guard case .malformed? = whole.problem else {
            Issue.record("\(text.debugDescription): \(whole)")
            return
        }
        expectNoDifference(parse(text.utf8.map { String(UnicodeScalar($0)) }), whole)
    }

    /// However they are split: the first byte alone is not enough.
    @Test func recordsOfTLSAreKnown() {
        for alert in ["\u{15}\u{3}\u{1}\u{0}\u{2}", "\u{16}\u{3}"] {
            #expect(parse(alert).problem == .tls)
            #expect(parse(alert.map { String($0) }).problem == .tls)
        }
        #expect(parse("\u{15}").problem == nil)
        for pieces in [["\u{15}x"], ["\u{15}", "x"]] {
            #expect(parse(pieces).problem == .malformed("the response does not begin with HTTP/1."))
        }
    }

    /// A server may end every packet within a line, for any time.
    @Test func whatWasReadIsNotKept() throws {
        var parser = ResponseParser(limits: Self.limits)
        parser.begin(method: .GET)
        parser.append(ByteBuffer(string: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4"))
        for _ in 0..<10_000 {
            parser.append(ByteBuffer(string: "\r\nbody\r\n4"))
            while try parser.next() != nil {}
        }
        #expect(parser.takeLeftover().storageCapacity < 1024)
    }

    @Test func afterAProblemNothingMoreIsRead() throws {
        var parser = ResponseParser(limits: Self.limits)
        parser.begin(method: .GET)
        parser.append(ByteBuffer(string: "garbage"))
        #expect(throws: ResponseParser.Problem.self) { try parser.next() }
        parser.append(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"))
        #expect(try parser.next() == nil)
        #expect(try parser.finish() == nil)
    }

    // MARK: Limits

    @Test func aHeadMayBeAsLargeAsTheLimit() {
        let rest = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: \r\n\r\n"
        let fits = String(repeating: "x", count: Self.limits.maximumHeadBytes - rest.utf8.count)
        func text(_ value: String) -> String { "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: \(value)\r\n\r\n" }
        #expect(parse(text(fits)).isComplete)
        #expect(parse(text(fits + "x")).problem == .headTooLarge)
        #expect(parse(text(fits + "x").map { String($0) }).problem == .headTooLarge)
    }

    @Test func headersAreCounted() {
        func text(_ count: Int) -> String {
            "HTTP/1.1 204 OK\r\n" + (0..<count).map { "H\($0): x\r\n" }.joined() + "\r\n"
        }
        #expect(parse(text(16)).isComplete)
        #expect(parse(text(17)).problem == .tooManyHeaders)
    }

    @Test func trailersAreCountedToo() {
        func text(_ count: Int, _ value: String = "x") -> String {
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                + (0..<count).map { "H\($0): \(value)\r\n" }.joined() + "\r\n"
        }
        #expect(parse(text(16)).isComplete)
        #expect(parse(text(17)).problem == .tooManyHeaders)
        #expect(parse(text(2, String(repeating: "x", count: 600))).problem == .headTooLarge)
    }

    @Test func informationalResponsesAreCounted() {
        let text = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 33)
        #expect(parse(text).informational.count == 32)
        #expect(parse(text).problem != nil)
    }

    @Test func aLineThatNeverEndsIsRefused() {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "x", count: 5000)
        #expect(parse(text).problem == .malformed("a chunk size line is too long"))
    }
}

extension Parsed {
    fileprivate mutating func take(_ event: ResponseParser.Event) {
        switch event {
        case .informational(let status):
            informational.append(status.code)
        case .head(let head, let persistence, _):
            status = head.status.code
            headers = head.headers.map { "\($0.name)=\($0.value)" }
            keepsAlive = persistence.keepsAlive
        case .body(let bytes):
            body += String(buffer: bytes)
        case .end:
            isComplete = true
        }
    }
}
