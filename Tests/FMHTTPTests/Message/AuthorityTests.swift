import Testing

@testable import FMHTTP

struct AuthorityTests {
    @Test(arguments: [
        ("fms.example.com", "fms.example.com", nil), ("FMS_1.Example.com:8443", "fms_1.example.com", 8443),
        ("127.0.0.1:80", "127.0.0.1", 80), ("[::1]", "::1", nil), ("[FE80::1]:3000", "fe80::1", 3000),
        ("[::ffff:127.0.0.1]:1", "::ffff:127.0.0.1", 1), ("", "", nil), (":80", "", 80),
    ])
    func readsHostAndPort(text: String, host: String, port: Int?) {
        let authority = Authority(text[...])
        #expect(authority?.host == host)
        #expect(authority?.port == port)
    }

    @Test(arguments: [
        "host:", "host:0", "host:65536", "host:+1", "host:1x", "a:b:c", "::1", "[::1", "::1]", "[]", "[::1]x", "[host]",
        "[::1%25eth0]", "a b", "a/b", "user@host", "host%2e", "höst", "\u{212A}.example.com", "host\r\n",
    ])
    func refusesAnythingElse(text: String) {
        #expect(Authority(text[...]) == nil)
    }

    @Test(arguments: [
        ("example.com", "example.com", true), ("example.com", "fms.example.com", true),
        ("ample.com", "example.com", false), ("fms.example.com", "example.com", false),
    ])
    func aDomainIsTheHostOrAboveIt(domain: String, host: String, isDomain: Bool) {
        #expect(HostGrammar.isDomain(domain, of: host) == isDomain)
    }
}
