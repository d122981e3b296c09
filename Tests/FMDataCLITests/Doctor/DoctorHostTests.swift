import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import NIOHTTP1
import Testing

@testable import FMDataCLI

/// What `fmdata doctor` says of a host that answers, and of what is none.
@Suite(.timeLimit(.minutes(15))) struct DoctorHostTests: DoctorHosts {
    @Test(
        arguments: [
            .response(200, ["Content-Type": "text/html"], "<html><title>Welcome to nginx!</title></html>"),
            .json(200, #"{"status":"fine"}"#), .html(404), .response(404),
        ] as [[FaultServer.Step]]
    )
    func somethingThatIsNoFileMakerHost(_ answer: [FaultServer.Step]) async throws {
        try await Self.withServer(answering: answer) { server in
            let examination = try await Examination.run([], host: "http://127.0.0.1:\(server.port)")
            let failure = try examination.failure(.host)
            #expect(failure.found.hasPrefix("this is no FileMaker host, or one whose Data API is switched off: "))
            expectNoDifference(failure.advice.count, 2)
            expectNoDifference(examination.exit, 1)
        }
    }

    @Test(arguments: [502, 503])
    func theEngineIsDown(_ status: Int) async throws {
        try await Self.withHost { sandbox in
            sandbox.inject(.html(status: status), on: .productInfo)
            let failure = try await Self.examine(sandbox).failure(.host)
            #expect(
                failure.found.hasPrefix("the web server is up, and the engine of the Data API behind it is not: "),
                "\(failure)"
            )
            #expect(failure.advice.last?.contains("fmsadmin restart wpe") == true)
        }
    }

    @Test func theDataAPIIsOff() async throws {
        try await Self.withHost { sandbox in
            sandbox.inject(.error(FileMakerError(959)), on: .productInfo)
            let examination = try await Self.examine(sandbox)
            let failure = try examination.failure(.host)
            expectNoDifference(failure.found, "FileMaker error 959: web publishing is switched off (HTTP 500)")
            expectNoDifference(
                failure.advice,
                ["Switch the FileMaker Data API on: Admin Console, Connectors, FileMaker Data API."]
            )
            expectNoDifference(examination.exit, 1)
        }
        let page = "<html><title>FileMaker Database Server Website</title></html>"
        try await Self.withServer(answering: .response(404, ["Content-Type": "text/html"], page)) { server in
            let failure = try await Examination.run([], host: "http://127.0.0.1:\(server.port)").failure(.host)
            #expect(failure.found.hasPrefix("a FileMaker host answers, and its Data API does not: "), "\(failure)")
        }
    }

    @Test func aHostThatSendsElsewhere() async throws {
        let answer: [FaultServer.Step] = .response(301, ["Location": "https://fms.example.com/"])
        try await Self.withServer(answering: answer) { server in
            let failure = try await Examination.run([], host: "http://127.0.0.1:\(server.port)").failure(.host)
            expectNoDifference(failure.advice, ["Name the host that it leads to: --host fms.example.com"])
        }
    }

    @Test func aConnectionThatIsClosedInsteadOfAnAnswer() async throws {
        try await Self.withServer(answering: [.close]) { server in
            let examination = try await Examination.run([], host: "http://127.0.0.1:\(server.port)")
            _ = try examination.failure(.http)
            expectNoDifference(examination.exit, 5)
        }
    }

    /// FileMaker Server 17 has no product information.
    @Test func aHostThatDoesNotTellWhatItIs() async throws {
        try await Self.withHost({ $0.serverVersion = .v17 }) { sandbox in
            let examination = try await Self.examine(sandbox)
            expectNoDifference(try examination[.host].status, .warning)
            expectNoDifference(try examination[.login].status, .ok)
        }
    }

    @Test func aClockThatIsWrong() async throws {
        let clock = AdjustableClock()
        try await Self.withHost({ $0.clock = clock }) { sandbox in
            clock.advance(by: .seconds(7 * 3600))
            let examination = try await Self.examine(sandbox)
            let check = try examination[.clock]
            expectNoDifference(check.status, .warning)
            #expect(check.found.hasPrefix("the host's clock is 7 hours"), "\(check)")
            #expect(check.found.hasSuffix(" ahead of this machine's"), "\(check)")
            expectNoDifference(examination.exit, 0)
        }
    }

    @Test func aHostThatIsSlow() async throws {
        try await Self.withHost { sandbox in
            let examination = try await Self.examine(sandbox, "--slow-after", "0")
            let check = try examination[.latency]
            expectNoDifference(check.status, .warning)
            expectNoDifference(Set(check.figures.keys), ["count", "p50", "p95", "worst", "connect"])
            expectNoDifference(examination.exit, 0)
        }
    }

    @Test func aHostThatKeepsNoConnection() async throws {
        try await Self.withHost({ $0.requestsPerConnection = 1 }) { sandbox in
            let check = try await Self.examine(sandbox)[.latency]
            expectNoDifference(check.status, .warning)
            #expect(check.found.hasSuffix("each answer closes its connection"), "\(check)")
        }
    }
}
