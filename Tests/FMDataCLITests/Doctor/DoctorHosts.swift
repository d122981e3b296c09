import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

/// The hosts that doctors are sent to: sandboxes, and servers that misbehave.
protocol DoctorHosts {}

extension DoctorHosts {
    static func solution(
        _ name: String = "Shop",
        privileges: Solution.PrivilegeSet = .init(name: "Sales"),
        isActive: Bool = true
    ) -> Solution {
        Solution(
            name: name,
            tables: [
                .init(
                    name: "Orders",
                    fields: [.init("Number"), .init("Total", .number), .init("Scan", .container)],
                    records: [.init(["Number": "value-canary-1"]), .init(["Number": "value-canary-2"])]
                )
            ],
            layouts: ["Orders", "Order List"]
                .map { .layout(.init(name: $0, table: "Orders", fields: ["Number", "Total", "Scan"])) },
            accounts: [
                .init(
                    name: Examination.user,
                    password: Examination.password,
                    privilegeSet: privileges.name,
                    isActive: isActive
                )
            ],
            privilegeSets: [privileges]
        )
    }

    static func withHost(
        _ solutions: [Solution] = [solution()],
        _ configure: (inout Sandbox.Configuration) -> Void = { _ in },
        _ body: (Sandbox) async throws -> Void
    ) async throws {
        var configuration = Sandbox.Configuration()
        // On a busy machine an idle connection must not be closed just when a request is sent on it.
        configuration.keepAlive = .seconds(600)
        configure(&configuration)
        let sandbox = try await Sandbox.start(solutions, configuration: configuration)
        do {
            try await body(sandbox)
            expectNoDifference(sandbox.counters.openSessions, 0)
            await sandbox.stop()
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    /// A host with TLS, and the file of its certificate.
    static func withHost(
        showing pair: TestCertificates.Pair,
        _ body: (Sandbox, _ certificateFile: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let files = [pair.certificate, pair.key].enumerated().map { number, text in
                (url: folder.appendingPathComponent("\(number).pem"), text: text)
            }
            for file in files { try Data(file.text.utf8).write(to: file.url) }
            try await withHost(
                {
                    $0.tls = true
                    $0.certificate = .files(certificate: files[0].url.path, key: files[1].url.path)
                }
            ) { sandbox in try await body(sandbox, files[0].url.path) }
        }
    }

    static func withHost(
        _ configure: (inout Sandbox.Configuration) -> Void,
        _ body: (Sandbox) async throws -> Void
    ) async throws {
        try await withHost([solution()], configure, body)
    }

    /// A server that gives the same answer to everything.
    static func withServer(
        _ options: FaultServer.Options = .init(),
        answering answer: [FaultServer.Step],
        _ body: (FaultServer) async throws -> Void
    ) async throws {
        let server = try await FaultServer.start(options) { _ in answer }
        try await body(server)
        try await server.stopped()
    }

    static func examine(_ sandbox: Sandbox, _ arguments: String...) async throws -> Examination {
        try await Examination.run(arguments, host: sandbox.url)
    }
}
