import FMHTTP
import FMTestSupport
import NIOCore
import Testing

/// Which hosts a certificate is accepted for, with certificates made for each case. They are those of an attacker:
/// valid in every other way, and the name resolves to the attacker's machine.
@Suite(.timeLimit(.minutes(15)))
struct TLSNameTests {
    private typealias Name = TestCertificates.Name

    private static let name = "fms.example.com"

    /// A loopback address, with its bytes in a certificate.
    struct Address: Sendable, CustomTestStringConvertible {
        let text: String
        let bytes: [UInt8]
        var testDescription: String { text }

        static let v4 = Address(text: "127.0.0.1", bytes: [127, 0, 0, 1])
        static let v6 = Address(text: "::1", bytes: Array(repeating: 0, count: 15) + [1])
        /// The addresses that this machine has.
        static let all = [v4, v6].filter { address in
            let devices = (try? System.enumerateDevices()) ?? []
            return devices.contains { $0.address?.ipAddress == address.text }
        }
    }

    /// The result of a request to the host at a server with a certificate for these names, and the number of requests
    /// that arrived.
    private func get(
        _ host: String,
        at address: Address,
        commonName: String = "x",
        names: [Name],
        throughProxy: Bool = false
    ) async throws -> (Result<HTTPResponse, HTTPClientError>, requests: Int) {
        let pair = TestCertificates.made(commonName: commonName, names: names)
        var options = FaultServer.Options(tls: try TestCertificates.serverContext(pair))
        options.address = address.text
        let server = try await FaultServer.start(options) { _ in ok("x") }
        let port = server.port
        let proxy = throughProxy ? try await TunnelProxy.start(to: port, at: address.text) : nil
        var configuration = HTTPClientConfiguration {
            $0.timeouts = .patient
            $0.tls = TLSOptions(roots: .only([.bytes(Array(pair.certificate.utf8))]))
        }
        if let proxy { configuration.proxy = .proxy(HTTPProxy(host: "127.0.0.1", port: proxy.port)) }
        configuration.lookUp = { _, port in [try SocketAddress(ipAddress: address.text, port: port)] }
        let client = HTTPClient(configuration: configuration)
        let result = await client.get(Origin(scheme: .https, host: host, port: port))
        await client.shutdown()
        await server.allConnectionsClosed()
        try await server.stopped()
        try await proxy?.stopped()
        return (result, server.requests.count)
    }

    private func expectMismatch(
        _ answer: (Result<HTTPResponse, HTTPClientError>, requests: Int),
        host: String = name,
        _ held: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = answer.0.failure
        #expect(error?.code == .certificateNameMismatch, sourceLocation: sourceLocation)
        #expect(error?.outcome == .notSent, sourceLocation: sourceLocation)
        #expect(
            error?.underlying == "\"\(host)\" was asked for, and it holds \(held)",
            sourceLocation: sourceLocation
        )
        #expect(answer.requests == 0, sourceLocation: sourceLocation)
    }

    @Test(arguments: Address.all)
    func theHostsName(address: Address) async throws {
        for name in [Self.name, "*.example.com", "FMS.EXAMPLE.COM"] {
            let (result, _) = try await get(Self.name, at: address, names: [.email("a@b.example"), .dns(name)])
            #expect(try result.get().text == "x")
        }
    }

    @Test(arguments: Address.all)
    func theAddressThatTheNameLedTo(address: Address) async throws {
        expectMismatch(try await get(Self.name, at: address, names: [.address(address.bytes)]), address.text)
    }

    @Test(arguments: Address.all)
    func theCommonNameAlone(address: Address) async throws {
        let held = "no name that counts: \"\(Self.name)\" is its common name, not an alternative name"
        expectMismatch(try await get(Self.name, at: address, commonName: Self.name, names: []), held)
        let email = Name.email("fms.example.com")
        expectMismatch(try await get(Self.name, at: address, commonName: Self.name, names: [email]), held)
    }

    @Test(arguments: Address.all)
    func anotherNameBesideTheRightCommonName(address: Address) async throws {
        expectMismatch(
            try await get(Self.name, at: address, commonName: Self.name, names: [.dns("other.example.com")]),
            "other.example.com"
        )
    }

    @Test(arguments: Address.all)
    func anAddressAsTheHost(address: Address) async throws {
        let (result, _) = try await get(address.text, at: address, names: [.address(address.bytes)])
        #expect(try result.get().text == "x")
        for name in [Name.dns(address.text), .address(Array(address.bytes.dropLast()) + [9])] {
            let (result, requests) = try await get(address.text, at: address, commonName: address.text, names: [name])
            #expect(result.failure?.code == .certificateNameMismatch)
            #expect(requests == 0)
        }
    }

    /// The peer's address is then the proxy's, and says nothing about the server, for or against.
    @Test(arguments: Address.all)
    func throughAProxy(address: Address) async throws {
        let (named, _) = try await get(Self.name, at: address, names: [.dns(Self.name)], throughProxy: true)
        #expect(try named.get().text == "x")
        let (addressed, _) = try await get(
            "192.0.2.1",
            at: address,
            names: [.address([192, 0, 2, 1])],
            throughProxy: true
        )
        #expect(try addressed.get().text == "x")
        for address in [Address.v4, address] {
            expectMismatch(
                try await get(Self.name, at: address, names: [.address(address.bytes)], throughProxy: true),
                address.text
            )
        }
        expectMismatch(
            try await get("192.0.2.1", at: address, names: [.address([127, 0, 0, 1])], throughProxy: true),
            host: "192.0.2.1",
            "127.0.0.1"
        )
    }

    /// RFC 6066 §3: the name in the greeting has no final dot, so that a server with several certificates finds the
    /// right one.
    @Test func theRootsDot() async throws {
        let (result, _) = try await get(Self.name + ".", at: .v4, names: [.dns(Self.name)])
        #expect(try result.get().text == "x")
    }
}
