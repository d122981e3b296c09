import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct FaultTests {
    @Test func rulesStrikeInOrderAndWaitTheirTurn() {
        var script = FaultScript()
        script.add(.init(.html(status: 502), on: .find, skipping: 1))
        script.add(.init(.expireToken, count: 2))
        #expect(script.next(for: .getRecords) == .expireToken)
        #expect(script.next(for: .find) == .expireToken)
        #expect(script.next(for: .find) == .html(status: 502))
        #expect(script.next(for: .find) == nil)
        #expect(script.rules.isEmpty)
        script.add(.init(.reset, count: nil))
        #expect((0..<3).allSatisfy { _ in script.next(for: .login) == .reset })
    }

    @Test func rulesWaitForARequestToWhichTheyCanHappen() {
        var script = FaultScript()
        script.add(.init(.refuseFreshToken))
        script.add(.init(.lateLogout(.seconds(1))))
        script.add(.init(.lostLogout, on: .find))
        script.add(.init(.refuseToken))
        #expect(script.next(for: .productInfo) == nil)
        #expect(script.next(for: .find) == .refuseToken)
        #expect(script.next(for: .find) == nil)
        #expect(script.next(for: .login) == .refuseFreshToken)
        #expect(script.next(for: .logout) == .lateLogout(.seconds(1)))
        #expect(script.next(for: .logout) == nil)
    }

    /// The table of faults in the documentation is written by hand, so this compares it.
    @Test func theDocumentationHasEveryFault() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/FMSandbox/FMSandbox.docc/FMSandbox.md")
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
        let words = rows.flatMap { $0.split(separator: "|")[1].matches(of: /`(\w+?)(?:\d+(?:=\w+)?)?`/).map(\.1) }
        #expect(Set(Sandbox.Fault.notations.map(\.name)).subtracting(words.map(String.init)) == [])
    }

    /// Runs a body on a bench over a socket whose sandbox has one fault injected.
    private func strike(_ fault: Sandbox.Fault, _ body: (Bench) async throws -> Void) async throws {
        for venue in [Venue.http, .https] {
            try await withBench(venue) { (bench: Bench) async throws in
                bench.engine.withState { $0.faults.add(.init(fault)) }
                try await body(bench)
            }
        }
    }

    private func edit(_ bench: Bench) async throws -> Bench.Answer {
        try await bench.patch("layouts/Contacts/records/1", ["fieldData": ["City": "Oxford"]])
    }

    @Test func anExpiredTokenIs952() async throws {
        try await strike(.expireToken) { (bench: Bench) async throws in
            let answer = try await edit(bench)
            #expect(answer.status == 401)
            #expect(answer.code == "952")
            #expect(bench.engine.counters.openSessions == 0)
        }
    }

    @Test func aRestartIsHTMLAndForgetsSessions() async throws {
        try await strike(.restart) { (bench: Bench) async throws in
            let answer = try await edit(bench)
            #expect(answer.status == 502)
            #expect(answer.header("content-type")?.hasPrefix("text/html") == true)
            #expect(answer.json == .null)
            #expect(try await edit(bench).code == "952")
            #expect(bench.engine.counters.executedWrites == 0)
        }
    }

    @Test func aCutBodyWasExecuted() async throws {
        try await strike(.cut(afterBodyBytes: 10)) { (bench: Bench) async throws in
            await #expect(throws: RawHTTPClient.ConnectionClosed.self) { try await edit(bench) }
            #expect(bench.engine.counters.executedWrites == 1)
        }
    }

    @Test func aResetWasNotExecuted() async throws {
        try await strike(.reset) { (bench: Bench) async throws in
            await #expect(throws: (any Error).self) { try await edit(bench) }
            #expect(bench.engine.counters.executedWrites == 0)
        }
        try await strike(.resetAfterExecution) { (bench: Bench) async throws in
            await #expect(throws: (any Error).self) { try await edit(bench) }
            #expect(bench.engine.counters.executedWrites == 1)
        }
    }

    @Test func thePageOfAGatewayMayComeInsteadOfTheAnswerToWhatWasExecuted() async throws {
        try await strike(.htmlAfterExecution(status: 504)) { (bench: Bench) async throws in
            let answer = try await edit(bench)
            #expect(answer.status == 504)
            #expect(answer.header("content-type")?.hasPrefix("text/html") == true)
            #expect(answer.json == .null)
            #expect(bench.engine.counters.executedWrites == 1)
        }
    }

    @Test func otherFaultsAnswerSomethingElse() async throws {
        try await withBench { (bench: Bench) async throws in
            let faults: [(Sandbox.Fault, Int, String?)] = [
                (.html(status: 503), 503, nil), (.empty(status: 500), 500, nil),
                (.error(FileMakerError(951)), 500, "951"),
                (.fullHost, 500, "956"), (.brokenJSON, 200, nil),
            ]
            for (fault, status, code) in faults {
                bench.engine.withState { $0.faults.add(.init(fault, on: .getRecords)) }
                #expect(try await bench.get("layouts").code == "0")
                let answer = try await bench.get("layouts/Contacts/records")
                #expect(answer.status == status)
                #expect(answer.code == code)
                #expect(try await bench.get("layouts/Contacts/records").code == "0")
            }
        }
    }

    @Test func faultsAreEqualWithTheirParameters() {
        #expect(Sandbox.Fault.delay(.seconds(1)) == .delay(.milliseconds(1_000)))
        #expect(Sandbox.Fault.delay(.seconds(1)) != .delay(.seconds(2)))
        #expect(Sandbox.Fault.delay(.seconds(1)) != .lateLogout(.seconds(1)))
        #expect(Sandbox.Fault.cutAnswer(afterBytes: 5) != .cutAnswer(afterBytes: 5, framing: .chunked))
        #expect("\(Sandbox.Fault.cutAnswer(afterBytes: 5))" == "cutAnswer(5, contentLength)")
        #expect("\(Sandbox.Fault.reset)" == "reset")
    }

    @Test func anErrorIsNamedByItsNumberOrByAClientsNameForIt() {
        enum ClientsCode: Int { case recordInUse = 301 }
        #expect(Sandbox.Fault.error(301) == .error(FileMakerError(301)))
        #expect(Sandbox.Fault.error(.recordInUse) == .error(FileMakerError(301)))
        #expect(Sandbox.Fault.error(ClientsCode.recordInUse) == .error(FileMakerError(301)))
        #expect(FileMakerError(ClientsCode.recordInUse, status: 400) == FileMakerError(301, status: 400))
        let error: FileMakerError = 301
        #expect(error.message == "Record is in use by another user" && error.status == 500)
        #expect("\(error)" == "FileMaker error 301: Record is in use by another user")
    }

    @Test func aDelayFollowsTheClock() async throws {
        try await withBench { (bench: Bench) async throws in
            bench.engine.withState { $0.faults.add(.init(.delay(.seconds(30)))) }
            async let slow = bench.get("layouts")
            await bench.clock.untilWaiting()
            bench.clock.advance(by: .seconds(30))
            let answer = try await slow
            #expect(answer.code == "0")
        }
    }

    @Test func aRestartFromOutsideClosesConnections() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        let client = try await RawHTTPClient.connect(host: sandbox.host, port: sandbox.port)
        #expect(try await client.send("GET", "/fmi/data/v1/productInfo").status == 200)
        sandbox.restart()
        try await client.closed()
        #expect(sandbox.counters.connections == 1)
        await sandbox.stop()
    }
}
