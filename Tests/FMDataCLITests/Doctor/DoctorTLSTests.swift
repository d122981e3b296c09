import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import NIOHTTP1
import NIOSSL
import Testing

@testable import FMDataCLI

/// What `fmdata doctor` says of TLS and certificates.
@Suite(.timeLimit(.minutes(15))) struct DoctorTLSTests: DoctorHosts {
    @Test func anAuthorityThatIsUnknown() async throws {
        try await Self.withHost({ $0.tls = true }) { sandbox in
            let examination = try await Self.examine(sandbox)
            let failure = try examination.failure(.certificate)
            #expect(failure.found.contains("no trusted authority stands behind"), "\(failure)")
            #expect(failure.advice.first?.contains("trust it: --ca FILE, the certificate of") == true)
            expectNoDifference(examination.exit, 5)
            let authority = try #require(sandbox.certificateAuthorityFile)
            let trusting = try await Self.examine(sandbox, "--ca", authority)
            expectNoDifference(trusting.exit, 0)
            let check = try trusting[.certificate]
            expectNoDifference(check.status, .ok)
            #expect(check.found.hasPrefix("for localhost, 127.0.0.1, ::1, by "), "\(check)")
        }
    }

    /// The lines that the report prints are carried out as they are.
    @Test func aSelfSignedCertificateIsSavedComparedAndTrusted() async throws {
        try await Self.withHost(showing: TestCertificates.selfSigned) { sandbox, _ in
            let untrusting = try await Self.examine(sandbox)
            let advice = try untrusting.failure(.certificate).advice
            expectNoDifference(advice.count, 3)
            try await withTemporaryFolder { folder in
                func carryOut(_ line: String) async throws -> Examination {
                    let words = try #require(line.firstRange(of: "fmdata doctor --host ")).upperBound
                    var arguments = line[words...].split(separator: " ").map(String.init)
                    let host = arguments.removeFirst()
                    arguments = arguments.map { $0 == "host.pem" ? folder.appendingPathComponent($0).path : $0 }
                    return try await Examination.run(arguments, host: host)
                }
                let saving = try await carryOut(advice[0])
                #expect(try saving.failure(.certificate).found.hasSuffix("host.pem"))
                let saved = try String(contentsOf: folder.appendingPathComponent("host.pem"), encoding: .utf8)
                expectNoDifference(saved, TestCertificates.selfSigned.certificate + "\n")
                #expect(advice[1].hasPrefix("Compare the fingerprint with the host's own: SHA-256 "))
                let trusting = try await carryOut(advice[2])
                expectNoDifference(trusting.exit, 0)
            }
        }
    }

    @Test func aFileThatCannotBeWritten() async throws {
        try await Self.withHost({ $0.tls = true }) { sandbox in
            let examination = try await Self.examine(sandbox, "--save-certificates", "/nowhere/host.pem")
            let failure = try examination.failure(.certificate)
            expectNoDifference(failure.found, "cannot write /nowhere/host.pem: No such file or directory")
        }
    }

    @Test func anAuthorityThatIsNone() async throws {
        try await Self.withHost({ $0.tls = true }) { sandbox in
            try await withTemporaryFile(Data("no certificate".utf8), named: "ca.pem") { file in
                let failure = try await Self.examine(sandbox, "--ca", file).failure(.tls)
                #expect(failure.found.hasSuffix("holds no certificate in PEM"), "\(failure)")
                expectNoDifference(failure.advice, ["--ca takes a file with one or more certificates as PEM."])
            }
        }
    }

    @Test func aCertificateForAnotherName() async throws {
        try await Self.withHost(showing: TestCertificates.wrongName) { sandbox, _ in
            try await withTemporaryFile(Data(TestCertificates.authority.utf8)) { authority in
                let examination = try await Self.examine(sandbox, "--ca", authority)
                let failure = try examination.failure(.certificate)
                #expect(failure.found.contains(#"and it holds wrong.example"#), "\(failure)")
                expectNoDifference(
                    failure.advice.first,
                    "Name the host as its certificate does: --host wrong.example."
                )
                expectNoDifference(examination.exit, 5)
            }
        }
    }

    @Test func aCertificateThatHasExpired() async throws {
        try await Self.withHost(showing: TestCertificates.expired) { sandbox, _ in
            let examination = try await Self.examine(sandbox)
            let failure = try examination.failure(.certificate)
            #expect(failure.found.contains("it was valid until 2020-01-02"), "\(failure)")
            #expect(try #require(failure.figures["days"]) < -2000)
            #expect(failure.advice.first?.hasPrefix("Renew the certificate") == true)
            expectNoDifference(examination.exit, 5)
        }
    }

    @Test(.thorough) func aCertificateThatExpiresSoon() async throws {
        let pair = TestCertificates.made(
            commonName: "localhost",
            names: [.dns("localhost"), .address([127, 0, 0, 1])],
            validUntil: Date(timeIntervalSinceNow: 12.5 * 86_400)
        )
        try await Self.withHost(showing: pair) { sandbox, file in
            let examination = try await Self.examine(sandbox, "--ca", file)
            let check = try examination[.certificate]
            expectNoDifference(check.status, .warning)
            expectNoDifference(check.figures, ["days": 12])
            #expect(check.found.contains("valid for 12 days"), "\(check)")
            expectNoDifference(examination.exit, 0)
            let careless = try await Self.examine(sandbox, "--ca", file, "--expires-within", "12")
            expectNoDifference(try careless[.certificate].status, .ok)
        }
    }

    @Test func httpsIsSpokenToHTTP() async throws {
        try await Self.withHost { sandbox in
            let examination = try await Examination.run([], host: "127.0.0.1:\(sandbox.port)")
            let failure = try examination.failure(.tls)
            #expect(failure.found.hasPrefix("the server speaks plain HTTP on this port, not HTTPS"), "\(failure)")
            expectNoDifference(
                failure.advice,
                ["Name the port for HTTPS in --host (it is 443 if none is named)."]
            )
            expectNoDifference(examination.exit, 5)
        }
    }

    @Test func httpIsSpokenToHTTPS() async throws {
        try await Self.withHost({ $0.tls = true }) { sandbox in
            let examination = try await Examination.run([], host: "http://127.0.0.1:\(sandbox.port)")
            let failure = try examination.failure(.http)
            #expect(failure.advice.first?.contains("https://") == true, "\(failure)")
            expectNoDifference(examination.exit, 5)
        }
        // Web servers answer so.
        let page = "<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>"
        try await Self.withServer(answering: .response(400, ["Content-Type": "text/html"], page)) { server in
            let examination = try await Examination.run([], host: "http://127.0.0.1:\(server.port)")
            let failure = try examination.failure(.http)
            expectNoDifference(failure.advice, ["Write https:// in --host, or leave the scheme out."])
        }
    }

    @Test func tlsThatIsTooOld() async throws {
        let context = try TestCertificates.serverContext(maximumVersion: .tlsv11)
        try await Self.withServer(.init(tls: context), answering: .silence) { server in
            let examination = try await Examination.run([], host: "127.0.0.1:\(server.port)")
            let failure = try examination.failure(.tls)
            #expect(failure.found.hasPrefix("TLS 1.1 in "), "\(failure)")
            expectNoDifference(examination.exit, 5)
        }
    }
}
