import Testing

@testable import FMHTTP

/// The rules of RFC 9525, as a table.
struct HostIdentityTests {
    private static let loopback: [UInt8] = [127, 0, 0, 1]
    private static let loopback6: [UInt8] = Array(repeating: 0, count: 15) + [1]

    private func accepts(_ host: String, _ names: [CertificateName]) -> Bool {
        HostIdentity(host: host).isAmong(names)
    }

    @Test(arguments: [
        // host, name in the certificate, whether the name is accepted for the host
        ("fms.example.com", "fms.example.com", true),
        ("fms.example.com", "FMS.Example.COM", true),
        ("FMS.EXAMPLE.com", "fms.example.com", true),
        ("fms.example.com.", "fms.example.com", true),
        ("fms.example.com", "fms.example.com.", true),
        ("localhost", "localhost", true),
        ("fms_1.example.com", "fms_1.example.com", true),
        ("fms.example.com", "fms.example.org", false),
        ("fms.example.com", "example.com", false),
        ("example.com", "fms.example.com", false),
        ("fms.example.com", "fms.example.com\0.evil.example", false),
        ("fms.example.com", "fms.example.com evil", false),
        ("fms example.com", "fms example.com", false),
        ("fms\u{7F}example.com", "fms\u{7F}example.com", false),
        ("fms.example.com", "", false),
        ("fms.example.com", ".", false),
        ("fms.example.com", ".example.com", false),
        ("fms.example.com", "fms..example.com", false),
        // Wildcards.
        ("fms.example.com", "*.example.com", true),
        ("FMS.example.com.", "*.EXAMPLE.com", true),
        ("a.fms.example.com", "*.example.com", false),
        ("example.com", "*.example.com", false),
        ("fms.example.com", "fms.*.com", false),
        ("fms.example.com", "f*.example.com", false),
        ("fms.example.com", "*s.example.com", false),
        ("fms.example.com", "*.*.com", false),
        ("fms.example.com", "*", false),
        ("fms", "*", false),
        ("example.com", "*.com", false),
        // International names are compared in their DNS form.
        ("xn--strae-oqa.example.com", "XN--STRAE-OQA.example.com", true),
        ("xn--strae-oqa.example.com", "*.example.com", true),
        ("xn--strae-oqa.example.com", "xn--*.example.com", false),
        ("xn--strae-oqa.example.com", "straße.example.com", false),
        ("straße.example.com", "straße.example.com", false),
        ("straße.example.com", "*.example.com", false),
        // The ideographic full stop and the sign for kelvin are neither a dot nor a k.
        ("fms\u{3002}example.com", "fms.example.com", false),
        ("\u{212A}.example.com", "k.example.com", false),
        // An address never matches a DNS name; text that only looks like an address is a name.
        ("127.0.0.1", "127.0.0.1", false),
        ("127.0.0.1", "*.0.0.1", false),
        ("::1", "::1", false),
        ("127.1", "127.1", true),
        ("", "", false),
    ])
    func aName(host: String, name: String, isAccepted: Bool) {
        #expect(accepts(host, [.dns(Array(name.utf8))]) == isAccepted)
    }

    @Test(arguments: [
        ("127.0.0.1", loopback, true),
        ("127.0.0.2", loopback, false),
        ("::1", loopback6, true),
        ("0:0:0:0:0:0:0:1", loopback6, true),
        ("fe80::1%eth0", [0xFE, 0x80] + Array(repeating: 0, count: 13) + [1], true),
        ("::2", loopback6, false),
        ("::1", loopback, false),
        ("127.0.0.1", loopback6, false),
        ("::ffff:127.0.0.1", loopback, false),
        ("127.0.0.1", loopback + [255, 255, 255, 255], false),
        ("127.0.0.1", [], false),
        ("localhost", loopback, false),
        ("localhost", loopback6, false),
        ("127.1", loopback, false),
    ])
    func anAddress(host: String, address: [UInt8], isAccepted: Bool) {
        #expect(accepts(host, [.address(address)]) == isAccepted)
    }

    @Test func oneOfSeveralIsEnough() {
        let names = [
            CertificateName.dns(Array("a.example".utf8)), .address(Self.loopback), .dns(Array("b.example".utf8)),
        ]
        for host in ["a.example", "b.example", "127.0.0.1"] { #expect(accepts(host, names)) }
        #expect(!accepts("c.example", names))
        #expect(!accepts("a.example", []))
    }

    @Test func bytesThatAreNoText() {
        #expect(!accepts("a.example", [.dns([0x61, 0xFF])]))
    }
}
