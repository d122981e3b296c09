import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Testing

@testable import FMDataCore

@Suite struct URLReferenceTests {
    /// The examples of RFC 3986 §5.4 against the base `http://a/b/c/d;p?q`; fragments are dropped here.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
        ("../../", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ])
    func theExamplesOfTheRFC(reference: String, resolved: String) throws {
        let base = try #require(URLReference("http://a/b/c/d;p?q"))
        expectNoDifference(base.resolving(try #require(URLReference(reference))), try #require(URLReference(resolved)))
    }

    @Test(arguments: [
        ("https://host", "/"), ("https://host?x=1", "/?x=1"), ("https://host/a?b?c/d", "/a?b?c/d"),
        ("https://host/a#b?c", "/a"),
        ("https://host/a b", "/a%20b"), ("https://host/ü", "/%C3%BC"), ("https://host/a%20b%zz", "/a%20b%25zz"),
        ("https://host/\"<>", "/%22%3C%3E"), ("https://host/a?", "/a?"),
    ])
    func theTargetOfTheRequestIsEncoded(url: String, target: String) throws {
        #expect(try #require(URLReference(url)).target == target)
    }

    @Test(arguments: [
        ("https://FMS.example.com/x", Origin(scheme: .https, host: "fms.example.com", port: 443)),
        ("HTTP://fms.example.com", Origin(scheme: .http, host: "fms.example.com", port: 80)),
        ("https://fms.example.com:443/x", Origin(scheme: .https, host: "fms.example.com")),
        ("https://fms.example.com:/x", Origin(scheme: .https, host: "fms.example.com")),
        ("https://fms.example.com:8443", Origin(scheme: .https, host: "fms.example.com", port: 8443)),
        ("http://[::1]:80/", Origin(scheme: .http, host: "[::1]")),
    ])
    func originsCompareBySchemeHostAndPort(url: String, origin: Origin) throws {
        expectNoDifference(try #require(URLReference(url)).origin, origin)
    }

    /// peers.md D 90: a check by string prefix accepts the first of these URLs.
    @Test(arguments: [
        "https://good.example.evil.com/", "http://good.example/", "https://good.example:444/",
        "https://evil.com/good.example",
        "https://evil.com?https://good.example", "https://good.examplé/", "https://good.example./", "//good.example/",
    ])
    func whatOnlyLooksLikeTheServerIsAnotherOrigin(url: String) {
        #expect(URLReference(url)?.origin != Origin(scheme: .https, host: "good.example"))
    }

    @Test(arguments: [
        "https://good.example\\@evil.com/", "https://good.example@evil.com/", "https://user:pw@good.example/",
        "https://a b/",
        "https://good.example:99999/", "https://good.example:0/", "https://good.example:4a/", "https://[::1/",
        "https://[]/",
        "https://good.example\r\nX: y/", "https://good%2eexample/", "https://host/\u{0}",
    ])
    func whatTwoReadersMayCutDifferentlyIsRefused(url: String) {
        #expect(URLReference(url) == nil)
    }

    @Test(arguments: [
        ("/a%2fb", "/a/b"), ("/%66mi", "/fmi"), ("/%", "/%"), ("/%4", "/%4"), ("/%C3%BC", "/ü"), ("/%FF", "/\u{FFFD}"),
    ])
    func escapesAreUndoneForLooking(path: String, decoded: String) throws {
        #expect(try #require(URLReference(path)).decodedPath == decoded)
    }

    @Test func anyTextIsCutOrRefusedAndItsTargetIsPlainASCII() {
        var generator = SeededRandom(seed: 11)
        for _ in 0..<2000 {
            let text =
                (Bool.random(using: &generator) ? "https://host/" : "")
                + String.random(length: 0...12, using: &generator)
            guard let url = URLReference(text) else { continue }
            #expect(url.target.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(text.debugDescription)")
        }
    }
}
