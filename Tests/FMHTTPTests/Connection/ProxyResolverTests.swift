import CustomDump
import FMTestSupport
import Testing

@testable import FMHTTP

struct ProxyResolverTests {
    private let origin = Origin(scheme: .https, host: "fms.example.com")

    private func proxy(_ variables: [String: String], for origin: Origin? = nil) throws -> HTTPProxy? {
        try ProxyResolver(.environment) { variables[$0] }.proxy(for: origin ?? self.origin)
    }

    @Test func theEnvironmentSays() throws {
        expectNoDifference(try proxy(["https_proxy": "http://proxy:3128"]), HTTPProxy(host: "proxy", port: 3128))
        expectNoDifference(try proxy(["HTTPS_PROXY": "proxy"]), HTTPProxy(host: "proxy", port: 8080))
        expectNoDifference(try proxy(["all_proxy": "HTTP://proxy:1/"]), HTTPProxy(host: "proxy", port: 1))
        expectNoDifference(try proxy(["https_proxy": "", "ALL_PROXY": "[::1]:9"]), HTTPProxy(host: "::1", port: 9))
        expectNoDifference(try proxy(["http_proxy": "proxy"]), nil)
        expectNoDifference(try proxy([:]), nil)
    }

    @Test func credentialsArePercentDecoded() throws {
        expectNoDifference(
            try proxy(["https_proxy": "http://us%40er:p%3Aw@proxy:1"]),
            HTTPProxy(host: "proxy", port: 1, credentials: .init(user: "us@er", password: "p:w"))
        )
        #expect(
            try proxy(["https_proxy": "http://Aladdin:open%20sesame@p"])?.authorization
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        )
    }

    @Test(arguments: [
        "socks5://p", "https://p", "http://", "http://p:0", "http://p:x", "http://a%zz@p", "http://a%e9@p",
    ])
    func whatIsNoHTTPProxyIsNotUsed(url: String) {
        #expect(HTTPProxy(url: url) == nil)
    }

    /// The variable was set so that connections do not bypass the proxy.
    @Test(arguments: [
        ("https_proxy", "socks5://us3r:s3cret@p:1", "https_proxy names a SOCKS proxy, and only HTTP proxies are known"),
        ("ALL_PROXY", "socks5h://p", "ALL_PROXY names a SOCKS proxy, and only HTTP proxies are known"),
        ("all_proxy", "SOCKS://p", "all_proxy names a SOCKS proxy, and only HTTP proxies are known"),
        (
            "all_proxy", "https://us3r:s3cret@p",
            "all_proxy names a proxy that is reached by HTTPS, and only plain HTTP proxies are known"
        ),
        ("HTTPS_PROXY", "s3cret://us3r@p:0", "HTTPS_PROXY names no HTTP proxy"),
    ])
    func aProxyThatCannotBeUsedIsAnError(name: String, url: String, detail: String) throws {
        let error = #expect(throws: HTTPClientError.self) { try proxy([name: url]) }
        expectNoDifference(error?.code, .unusableProxy)
        expectNoDifference(error?.outcome, .notSent)
        expectNoDifference(error?.underlying, detail)
        expectNoDifference(try proxy([name: url, "no_proxy": "example.com"]), nil)
        expectNoDifference(try proxy([name: url], for: Origin(scheme: .https, host: "localhost")), nil)
    }

    @Test(arguments: [
        ("*", true), ("example.com", true), (".example.com", true), ("*.example.com", true), ("fms.example.com", true),
        ("other.com, example.com", true), ("example.com:443", true), ("EXAMPLE.com", true),
        ("ample.com", false), ("example.com:80", false), ("s.example.com", false), ("", false), (",", false),
    ])
    func someHostsAreExcluded(list: String, isExcluded: Bool) throws {
        let result = try proxy(["https_proxy": "proxy", "no_proxy": list])
        #expect((result == nil) == isExcluded)
    }

    @Test(arguments: ["2001:db8::1", "[2001:DB8::1]", "[2001:db8::1]:443"])
    func anAddressIsExcludedWithOrWithoutBrackets(list: String) throws {
        let origin = Origin(scheme: .https, host: "2001:db8::1")
        #expect(try proxy(["https_proxy": "proxy", "no_proxy": list], for: origin) == nil)
        #expect(try proxy(["https_proxy": "proxy", "no_proxy": "[2001:db8::1]:80"], for: origin) != nil)
    }

    @Test func plainHTTPHasItsOwnVariable() throws {
        let origin = Origin(scheme: .http, host: "fms.example.com")
        #expect(try proxy(["http_proxy": "proxy"], for: origin) != nil)
        #expect(try proxy(["HTTP_PROXY": "proxy", "https_proxy": "proxy"], for: origin) == nil)
    }

    @Test func thisMachineIsNeverReachedThroughAProxy() throws {
        let proxy = HTTPProxy(host: "proxy")
        let loopback = Origin(scheme: .https, host: "127.0.0.1")
        #expect(try ProxyResolver(.proxy(proxy)).proxy(for: loopback) == nil)
        #expect(try ProxyResolver(.proxy(proxy)).proxy(for: origin) == proxy)
        #expect(try ProxyResolver(.none).proxy(for: origin) == nil)
    }

    @Test func credentialsAreNotPrinted() {
        let proxy = HTTPProxy(host: "proxy", credentials: .init(user: "secret-user", password: "secret-word"))
        var dumped = ""
        customDump(proxy, to: &dumped)
        dump(proxy, to: &dumped)
        let configuration = HTTPClientConfiguration { $0.proxy = .proxy(proxy) }
        #expect(!"\(proxy) \(dumped) \(configuration)".contains("secret"))
    }
}
