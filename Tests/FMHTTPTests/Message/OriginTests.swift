import Testing

@testable import FMHTTP

struct OriginTests {
    @Test func normalizes() {
        #expect(
            Origin(scheme: .https, host: "FMS.Example.com")
                == Origin(scheme: .https, host: "fms.example.com", port: 443)
        )
        #expect(Origin(scheme: .http, host: "[::1]").host == "::1")
    }

    @Test func describesItself() {
        #expect("\(Origin(scheme: .https, host: "a", port: 443))" == "https://a")
        #expect("\(Origin(scheme: .http, host: "::1", port: 3000))" == "http://[::1]:3000")
    }

    @Test(arguments: ["localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.255.1.2", "::1", "[::1]"])
    func loopback(host: String) {
        #expect(Origin(scheme: .http, host: host).isLoopback)
    }

    @Test(arguments: [
        "127.0.0.1.example.com", "127.1", "127.0.0.256", "127.0.0.", "127.+0.0.1", "128.0.0.1", "localhost.example.com",
        "notlocalhost", "::2", "0.0.0.0", "",
    ])
    func notLoopback(host: String) {
        #expect(!Origin(scheme: .http, host: host).isLoopback)
    }
}
