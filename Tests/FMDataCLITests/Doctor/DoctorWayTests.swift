import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import NIOHTTP1
import Testing

@testable import FMDataCLI

/// What `fmdata doctor` says of the way to a host: names, addresses, proxies.
@Suite(.timeLimit(.minutes(15))) struct DoctorWayTests: DoctorHosts {
    // MARK: The way to the host

    @Test func aNameThatIsUnknown() async throws {
        // This name is reserved for not existing (RFC 6761 §6.4).
        let examination = try await Examination.run([], host: "no-such-host.invalid")
        let failure = try examination.failure(.name)
        #expect(failure.found.hasPrefix("no-such-host.invalid has no address: "), "\(failure)")
        expectNoDifference(failure.advice.first, "Is the name spelled right?")
        expectNoDifference(examination.exit, 5)
    }

    @Test(.thorough) func anIPv6AddressThatDoesNotAnswer() async throws {
        try await Self.withHost { sandbox in
            let silent = try SilentPort(sandbox.port, of: "::1")
            let examination = try await Examination.run([], host: "http://localhost:\(silent.port)")
            let check = try examination[.connect]
            expectNoDifference(check.status, .warning)
            #expect(check.found.hasPrefix("::1 does not answer; 127.0.0.1 answers in "), "\(check)")
            #expect(check.advice.first?.hasSuffix("for ::1, or remove its AAAA record from DNS.") == true, "\(check)")
            expectNoDifference(examination.exit, 0)
            expectNoDifference(try examination[.login].status, .ok)
        }
    }

    @Test func aPortThatIsClosed() async throws {
        let closed = try ClosedPort()
        let examination = try await Examination.run([], host: "127.0.0.1:\(closed.port)")
        let failure = try examination.failure(.connect)
        expectNoDifference(failure.found, "127.0.0.1 refuses, port \(closed.port)")
        expectNoDifference(examination.exit, 5)
    }

    @Test func aPortThatSaysNothing() async throws {
        let silent = try SilentPort()
        let examination = try await Examination.run(["--timeout", "0.1"], host: "127.0.0.1:\(silent.port)")
        let failure = try examination.failure(.connect)
        expectNoDifference(failure.found, "127.0.0.1 does not answer, port \(silent.port)")
        #expect(failure.advice.first?.hasPrefix("Firewalls that drop what they forbid") == true, "\(failure)")
    }

    // MARK: Proxies

    /// A host that is reached by a proxy of the environment: its name does not exist on this machine.
    private func withProxy(
        _ body: (_ arguments: [String], _ environment: [String: String]) async throws -> Void
    )
        async throws
    {
        let pair = TestCertificates.made(commonName: "fms.invalid", names: [.dns("fms.invalid")])
        try await Self.withHost(showing: pair) { sandbox, file in
            let proxy = try await TunnelProxy.start(to: sandbox.port)
            try await body(["--ca", file], ["https_proxy": "http://me:pass-canary@127.0.0.1:\(proxy.port)"])
            try await proxy.stopped()
        }
    }

    @Test func aProxyInTheWay() async throws {
        try await withProxy { arguments, environment in
            let examination = try await Examination.run(arguments, host: "fms.invalid", environment: environment)
            expectNoDifference(examination.exit, 0)
            let check = try examination[.proxy]
            #expect(check.found.hasPrefix("the host is reached through 127.0.0.1:"), "\(check)")
            #expect(check.found.hasSuffix("; set: https_proxy"), "\(check)")
            expectNoDifference(try examination[.certificate].status, .ok)
            expectNoDifference(try examination[.login].status, .ok)
        }
    }

    @Test(arguments: [(403, "the proxy answered 403"), (407, "the proxy wants credentials")])
    func aProxyThatOpensNoTunnel(_ status: Int, _ text: String) async throws {
        try await Self.withServer(answering: .response(status)) { server in
            let examination = try await Examination.run(
                [],
                host: "fms.invalid",
                environment: ["https_proxy": "127.0.0.1:\(server.port)"]
            )
            let failure = try examination.failure(.proxy)
            #expect(failure.found.contains(text), "\(failure)")
            #expect(failure.advice.last?.contains("no_proxy") == true)
            expectNoDifference(examination.exit, 5)
        }
    }

    @Test func aProxyThatIsNotThere() async throws {
        let closed = try ClosedPort()
        let environment = ["https_proxy": "127.0.0.1:\(closed.port)"]
        let examination = try await Examination.run([], host: "fms.invalid", environment: environment)
        let failure = try examination.failure(.connect)
        expectNoDifference(failure.found, "127.0.0.1 refuses, port \(closed.port), of the proxy")
    }

    @Test func aProxyOfAnotherKind() async throws {
        let environment = ["all_proxy": "socks5://127.0.0.1:1080"]
        let examination = try await Examination.run([], host: "fms.invalid", environment: environment)
        let failure = try examination.failure(.proxy)
        #expect(failure.found.contains("all_proxy names a SOCKS proxy"), "\(failure)")
    }

    @Test func aGatewayThatSaysSo() async throws {
        try await Self.withServer(answering: .response(403, ["Via": "1.1 gate.example.com"], "<title>Stop</title>")) {
            server in
            let examination = try await Examination.run([], host: "http://127.0.0.1:\(server.port)")
            let check = try examination[.http]
            expectNoDifference(check.status, .warning)
            #expect(check.found.hasSuffix(", by way of 1.1 gate.example.com"), "\(check)")
            let failure = try examination.failure(.host)
            #expect(failure.found.hasPrefix("something in front of the host turns calls away: "), "\(failure)")
        }
    }
}
