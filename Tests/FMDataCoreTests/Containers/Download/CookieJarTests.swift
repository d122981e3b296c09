import FMData
import Foundation
import Testing

@testable import FMDataCore

@Suite struct CookieJarTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func header(
        _ setCookies: String...,
        from source: String = "https://host.example/Streaming_SSL/MainDB/X.jpg",
        to target: String = "https://host.example/Streaming_SSL/MainDB/X.jpg",
        after seconds: TimeInterval = 0
    ) throws -> String? {
        var jar = CookieJar()
        for cookie in setCookies { jar.store(setCookie: cookie, from: try #require(URLReference(source)), now: now) }
        return jar.header(for: try #require(URLReference(target)), now: now + seconds)
    }

    @Test func theSessionKeyOfAContainerComesBack() throws {
        #expect(
            try header("X-FMS-Session-Key=0123ABCD; Path=/; HttpOnly; Secure; SameSite=Lax")
                == "X-FMS-Session-Key=0123ABCD"
        )
    }

    @Test(arguments: [
        ("a=b", "a=b"), ("  a =  b c  ; Path=/", "a=b c"), ("a=", "a="), ("a=b=c", "a=b=c"), ("a=\"q\"", "a=\"q\""),
        ("a=b; unknown; x=y", "a=b"), ("a=b;", "a=b"),
    ])
    func nameAndValueByTheLetterOfTheRFC(cookie: String, sent: String) throws {
        #expect(try header(cookie) == sent)
    }

    @Test(arguments: ["", "=b", "novalue", ";a=b", "a=b\u{1}", "a=b\r\nX: y", " =x"])
    func whatIsNoCookieIsIgnored(cookie: String) throws {
        #expect(try header(cookie) == nil)
    }

    /// As a `Character`, a semicolon followed by a combining accent is not a semicolon. The server that gets the cookie
    /// back splits there, so the jar has to as well.
    @Test func cookiesAreCutWhereServersCutThem() throws {
        #expect(try header("a=b;\u{301}; Path=/") == "a=b")
        #expect(try header("a=b;\u{301}x=y; Path=/") == "a=b")
        #expect(try header("a=\u{301}b; Path=/") == "a=\u{301}b")
        #expect(try header("a=b; Secure=\u{301}", to: "http://host.example/Streaming_SSL/MainDB/X.jpg") == nil)
    }

    @Test func theSameCookieIsReplacedAndOthersAreKeptInOrder() throws {
        #expect(try header("a=1; Path=/", "b=2; Path=/", "a=3; Path=/") == "b=2; a=3")
        #expect(try header("a=1; Path=/", "a=2; Path=/Streaming_SSL") == "a=2; a=1")
    }

    @Test func cookiesStayAtTheirHost() throws {
        #expect(try header("a=b; Path=/", to: "https://other.example/Streaming_SSL/MainDB/X.jpg") == nil)
        #expect(try header("a=b; Path=/; Domain=host.example", to: "https://sub.host.example/") == nil)
        #expect(
            try header("a=b; Domain=.example.com", from: "https://fms.example.com/x", to: "https://fms.example.com/x")
                == "a=b"
        )
        #expect(try header("a=b; Domain=evil.com") == nil)
        #expect(try header("a=b; Domain=example") == nil)
        #expect(try header("a=b; Domain=t.example") == nil)
    }

    @Test func secureCookiesTravelOverTLSOnly() throws {
        #expect(try header("a=b; Secure; Path=/", to: "http://host.example/") == nil)
        #expect(try header("a=b; Path=/", to: "http://host.example/") == "a=b")
        #expect(try header("a=b; Secure", from: "http://host.example/", to: "https://host.example/") == nil)
    }

    @Test(arguments: [
        ("/Streaming_SSL", "/Streaming_SSL/MainDB/X.jpg", true), ("/Streaming", "/Streaming_SSL/MainDB/X.jpg", false),
        ("/Streaming_SSL/", "/Streaming_SSL/x", true), ("/", "/", true), ("/x", "/x", true), ("/x/", "/x", false),
        ("relative", "/Streaming_SSL/MainDB/Y", true), ("relative", "/Streaming_SSL/Z", false),
    ])
    func pathsMatchAtTheBordersOfSegments(path: String, target: String, isSent: Bool) throws {
        #expect((try header("a=b; Path=\(path)", to: "https://host.example\(target)") != nil) == isSent)
    }

    @Test func cookiesExpire() throws {
        #expect(try header("a=b; Max-Age=60", after: 59) == "a=b")
        #expect(try header("a=b; Max-Age=60", after: 60) == nil)
        #expect(try header("a=b; Max-Age=0") == nil)
        #expect(try header("a=b; Max-Age=-9223372036854775808") == nil)
        #expect(try header("a=b; Max-Age=9223372036854775807") == "a=b")
        #expect(try header("a=b; Max-Age=soon") == "a=b")
        #expect(try header("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT") == nil)
        #expect(try header("a=b; Expires=Wed, 01 Jan 2025 00:00:00 GMT") == "a=b")
        #expect(try header("a=b; Expires=Wed, 01 Jan 2025 00:00:00 GMT; Max-Age=0") == nil)
        #expect(try header("a=b", "a=; Max-Age=0") == nil)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "6 nov 1994 08:49:37",
        "08:49:37 1994 November 06",
    ])
    func datesInEveryFormServersUse(text: String) {
        #expect(HTTPDate.parse(text) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(arguments: [
        "", "tomorrow", "Sun, 06 Nov 1994", "06 Nov 1994 25:00:00", "40 Nov 1994 08:49:37", "06 Nov 1500 08:49:37",
        "99999999999999999999",
    ])
    func textsThatAreNoDates(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test func aServerCannotFillTheMemory() throws {
        var jar = CookieJar()
        let url = try #require(URLReference("https://host.example/"))
        for number in 0..<1000 { jar.store(setCookie: "c\(number)=x", from: url, now: now) }
        jar.store(setCookie: "big=\(String(repeating: "x", count: 5000))", from: url, now: now)
        let sent = try #require(jar.header(for: url, now: now))
        #expect(sent.split(separator: ";").count == CookieJar.maximumCookieCount)
        #expect(!sent.contains("big"))
    }
}
