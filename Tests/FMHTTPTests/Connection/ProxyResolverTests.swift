import CustomDump
import Testing

@testable import FMHTTP

struct ProxyResolverTests {
    private let origin = Origin(scheme: .https, host: "fms.example.com")

    private func proxy(_ variables: [String: String], for origin: Origin? = nil) -> HTTPProxy? {
        ProxyResolver(.environment) { variables[$0] }.proxy(for: origin ?? self.origin)
    }

    @Test func theEnvironmentSays() {
        expectNoDifference(proxy(["https_proxy": "http://proxy:3128"]), HTTPProxy(host: "proxy", port: 3128))
        expectNoDifference(proxy(["HTTPS_PROXY": "proxy"]), HTTPProxy(host: "proxy", port: 8080))
        expectNoDifference(proxy(["all_proxy": "HTTP://proxy:1/"]), HTTPProxy(host: "proxy", port: 1))
        expectNoDifference(proxy(["https_proxy": "", "ALL_PROXY": "[::1]:9"]), HTTPProxy(host: "::1", port: 9))
        expectNoDifference(proxy(["http_proxy": "proxy"]), nil)
        expectNoDifference(proxy([:]), nil)
    }

    @Test func credentialsArePercentDecoded() {
        expectNoDifference(
            proxy(["https_proxy": "http://us%40er:p%3Aw@proxy:1"]),
            HTTPProxy(host: "proxy", port: 1, credentials: .init(user: "us@er", password: "p:w"))
        )
        #expect(
            proxy(["https_proxy": "http://Aladdin:open%20sesame@p"])?.authorization
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        )
    }

    @Test(arguments: [
        "socks5://p", "https://p", "http://", "http://p:0", "http://p:x", "http://a%zz@p", "http://a%e9@p",
    ])
    func whatIsNoHTTPProxyIsNotUsed(url: String) {
        #expect(HTTPProxy(url: url) == nil)
    }

    @Test(arguments: [
        ("*", true), ("example.com", true), (".example.com", true), ("*.example.com", true), ("fms.example.com", true),
        ("other.com, example.com", true), ("example.com:443", true), ("EXAMPLE.com", true),
        ("ample.com", false), ("example.com:80", false), ("s.example.com", false), ("", false), (",", false),
    ])
    func someHostsAreExcluded(list: String, isExcluded: Bool) {
        let result = proxy(["https_proxy": "proxy", "no_proxy": list])
        #expect((result == nil) == isExcluded)
    }

    @Test func plainHTTPHasItsOwnVariable() {
        let origin = Origin(scheme: .http, host: "fms.example.com")
        #expect(proxy(["http_proxy": "proxy"], for: origin) != nil)
        #expect(proxy(["HTTP_PROXY": "proxy", "https_proxy": "proxy"], for: origin) == nil)
    }

    @Test func thisMachineIsNeverReachedThroughAProxy() {
        let proxy = HTTPProxy(host: "proxy")
        let loopback = Origin(scheme: .https, host: "127.0.0.1")
        #expect(ProxyResolver(.proxy(proxy)).proxy(for: loopback) == nil)
        #expect(ProxyResolver(.proxy(proxy)).proxy(for: origin) == proxy)
        #expect(ProxyResolver(.none).proxy(for: origin) == nil)
    }

    @Test func credentialsAreNotPrinted() {
        let proxy = HTTPProxy(host: "proxy", credentials: .init(user: "secret-user", password: "secret-word"))
        var dumped = ""
        customDump(proxy, to: &dumped)
        dump(proxy, to: &dumped)
        #expect(!"\(proxy) \(dumped) \(HTTPClientConfiguration(proxy: .proxy(proxy)))".contains("secret"))
    }
}
