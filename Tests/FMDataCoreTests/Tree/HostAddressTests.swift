import CustomDump
import FMData
import FMHTTP
import Testing

@testable import FMDataCore

@Suite struct HostAddressTests {
    @Test(arguments: [
        ("fms.example.com", Origin(scheme: .https, host: "fms.example.com", port: 443)),
        ("fms.example.com:8443", Origin(scheme: .https, host: "fms.example.com", port: 8443)),
        ("http://127.0.0.1:3000", Origin(scheme: .http, host: "127.0.0.1", port: 3000)),
        ("HTTPS://fms.example.com/", Origin(scheme: .https, host: "fms.example.com", port: 443)),
        ("[::1]:3000", Origin(scheme: .https, host: "::1", port: 3000)),
        ("http://[::1]", Origin(scheme: .http, host: "::1", port: 80)),
    ])
    func readsAHost(text: String, origin: Origin) throws {
        #expect(try HostAddress.origin(of: text, scheme: .https) == origin)
    }

    @Test func theConfigurationsSchemeIsTheDefault() throws {
        #expect(
            try HostAddress.origin(of: "localhost", scheme: .http) == Origin(scheme: .http, host: "localhost", port: 80)
        )
    }

    @Test(arguments: [
        "", ":", "host:", "host:port", "host:0", "host:65536", "a b", "host/path", "user@host", "user@\u{301}host",
        "host\r\nX: y", "a:b:c",
        "[::1", "[::1]x", "http://", "host?x", "host#x", "ftp://host",
    ])
    func refusesWhatIsNoHost(text: String) {
        #expect(throws: FMRest.APIError.self) { try HostAddress.origin(of: text, scheme: .https) }
    }

    @Test(arguments: [
        ("", "\"\" is not a host."), ("host/path", #""host/path" is not a host."#),
        ("\"host\"", "\"\"host\"\" is not a host: no host has \"\"\" in it."),
        ("fms.exa mple.com", #""fms.exa••••" is not a host: no host has " " in it."#),
        ("host;token=s3cret", #""host••••" is not a host: no host has ";" in it."#),
        ("?s3cret", #""••••" is not a host: no host has "?" in it."#),
        ("https://host:s3 cret", #""https://host:••••" is not a host: what follows ":" is no port."#),
    ])
    func saysWhatIsWrong(text: String, reason: String) {
        let error = #expect(throws: FMRest.APIError.self) { try HostAddress.origin(of: text, scheme: .https) }
        expectNoDifference(error?.reason, reason)
    }

    /// Errors and logs show the scheme, name, port and path of an address, and nothing that could be a secret.
    @Test(arguments: [
        ("fms.example.com", "fms.example.com"), ("https://fms.example.com:8443/", "https://fms.example.com:8443/"),
        ("HTTP://[::1]:3000", "HTTP://[::1]:3000"), ("::1", "::1"), ("host/path", "host/path"),
        ("müller.example.com", "müller.example.com"), ("ftp://host", "ftp://host"), ("", ""),
        ("https://host?token=s3cret", "https://host••••"), ("https://host/a?token=s3cret", "https://host/a••••"),
        ("host#s3cret", "host••••"), ("host;token=s3cret", "host••••"), ("host token=s3cret", "host••••"),
        ("host&token=s3cret", "host••••"), ("host\r\nX: s3cret", "host••••"),
        ("api:s3cret", "api:••••"), ("https://api:s3cret/path", "https://api:••••"),
        ("https://api:s3cret@host:443/a?b=s3cret", "https://••••@host:443/a••••"),
        ("https://api:s3@cret@host", "https://••••@host"), ("https://api:s3/cret@host", "https://••••@host"),
        ("https://api:s3cret@\u{301}host", "https://••••@host"),
        ("https://api:s3?cret@host", "https://••••"), ("https://host?mail=s3cret@cret.example", "https://••••"),
        ("?s3cret", "••••"), ("\"host:s3cret\"", "\"host:••••"),
        // What surrounds a name is shown, since it is what is wrong.
        ("\"fms.example.com\"", "\"fms.example.com\""), ("<host>", "<host>"), (" host\n", " host\\u{A}"),
        ("https://$HOST", "https://$HOST"), ("\u{202E}host", "\\u{202E}host"), ("host?", "host?"),
    ])
    func showsNothingBeyondItsParts(text: String, shown: String) {
        expectNoDifference(HostAddress.shown(text), shown)
        expectNoDifference(DataAPI.Server(host: text).host, shown)
    }
}
