import CustomDump
import FMTestSupport
import NIOHTTP1
import Testing

@testable import FMSandbox

/// Answers that are cut off or delayed, byte for byte.
@Suite(.timeLimit(.minutes(15))) struct AnswerFaultTests {
    private let answer = RawAnswer(
        head: HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Server": "Apache", "Content-Length": "5"]),
        body: Array("hello".utf8)
    )

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func anAnswerHasOneFormOnTheWire() {
        expectNoDifference(
            text(answer.bytes(.contentLength)),
            "HTTP/1.1 200 OK\r\nServer: Apache\r\nContent-Length: 5\r\n\r\nhello"
        )
        expectNoDifference(
            text(answer.bytes(.chunked)),
            "HTTP/1.1 200 OK\r\nServer: Apache\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
        )
        let empty = RawAnswer(head: answer.head, body: [])
        #expect(text(empty.bytes(.chunked)).hasSuffix("\r\n\r\n0\r\n\r\n"))
    }

    @Test(arguments: [
        (Sandbox.ChunkSizeMistake.missing, "\r\nhello"), (.notHexadecimal, "xyz\r\nhello"), (.negative, "-5\r\nhello"),
        (.overflow, "10000000000000000\r\nhello"), (.tooSmall, "4\r\nhello"), (.tooLarge, "3ed\r\nhello"),
    ])
    func aChunkSizeIsWrong(_ mistake: Sandbox.ChunkSizeMistake, _ chunk: String) {
        let head = "HTTP/1.1 200 OK\r\nServer: Apache\r\nTransfer-Encoding: chunked\r\n\r\n"
        let end = "\r\n0\r\n\r\n"
        expectNoDifference(text(answer.bytes(mistake, afterBodyBytes: 0)), head + chunk + end)
        let later = text(answer.bytes(mistake, afterBodyBytes: 3))
        #expect(later.hasPrefix("\(head)3\r\nhel\r\n"))
        #expect(later.hasSuffix("lo\(end)"))
    }

    // MARK: Over a socket

    private static let info = Array("GET /fmi/data/v1/productInfo HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    private func withSandbox(_ body: (Sandbox) async throws -> Void) async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.clock = ManualClock()
            }
        )
        do {
            try await body(sandbox)
            await sandbox.stop()
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    /// An answer is cut after each byte (every seventh in a brief run): the client gets exactly these bytes, and the
    /// server closes the connection.
    @Test(arguments: Sandbox.AnswerFraming.allCases)
    func anAnswerIsCutAfterAnyByte(_ framing: Sandbox.AnswerFraming) async throws {
        try await withSandbox { (sandbox: Sandbox) async throws in
            sandbox.inject(.cutAnswer(afterBytes: .max, framing: framing), on: .productInfo)
            let whole = try await RawSocket.exchange(port: sandbox.port, Self.info)
            #expect(text(whole).hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(text(whole).contains("\r\nTransfer-Encoding: chunked\r\n") == (framing == .chunked))
            for count in Effort.places(before: whole.count + 1, brief: 7) {
                sandbox.inject(.cutAnswer(afterBytes: count, framing: framing))
                let part = try await RawSocket.exchange(port: sandbox.port, Self.info)
                expectNoDifference(text(part), text(Array(whole.prefix(count))))
            }
        }
    }

    @Test func aCutAnswerWasExecuted() async throws {
        for venue in [Venue.http, .https] {
            for fault in [Sandbox.Fault.cutAnswer(afterBytes: 5), .badChunkSize(.overflow), .badChunkSize(.tooLarge)] {
                try await withBench(venue) { (bench: Bench) async throws in
                    bench.engine.withState { $0.faults.add(.init(fault)) }
                    await #expect(throws: (any Error).self) { try await edit(bench) }
                    #expect(bench.engine.counters.executedWrites == 1)
                }
            }
        }
    }

    /// The head of the answer announces that the connection stays open.
    @Test func theConnectionClosesBehindAnAnswer() async throws {
        try await withSandbox { (sandbox: Sandbox) async throws in
            let client = try await RawHTTPClient.connect(host: sandbox.host, port: sandbox.port)
            sandbox.inject(.closeAfterAnswer)
            let answer = try await client.send("GET", "/fmi/data/v1/productInfo")
            #expect(answer.status == 200)
            #expect(answer["connection"] == "Keep-Alive")
            try await client.closed()
        }
    }

    private func edit(_ bench: Bench) async throws -> Bench.Answer {
        try await bench.patch("layouts/Contacts/records/1", ["fieldData": ["City": "Oxford"]])
    }

    // MARK: Held answers

    /// The write has been executed and its session is free while the answer is held.
    @Test func anAnswerIsHeldAfterExecution() async throws {
        try await withBench { (bench: Bench) async throws in
            bench.engine.withState { $0.faults.add(.init(.holdAnswer, on: .editRecord)) }
            async let answer = edit(bench)
            await bench.engine.heldAnswers.untilHeld(1)
            #expect(bench.engine.counters.executedWrites == 1)
            #expect(try await bench.get("layouts/Contacts/records/1").fields["City"] == "Oxford")
            bench.engine.heldAnswers.release()
            #expect(try await answer.code == "0")
            #expect(bench.engine.heldAnswers.count == 0)
        }
    }

    @Test func heldAnswersGoInTheirOrder() async throws {
        try await withSandbox { (sandbox: Sandbox) async throws in
            sandbox.inject(.holdAnswer, count: nil)
            func ask() -> Task<Int, any Error> {
                Task {
                    let client = try await RawHTTPClient.connect(host: sandbox.host, port: sandbox.port)
                    return try await client.send("GET", "/fmi/data/v1/productInfo").status
                }
            }
            let first = ask()
            await sandbox.untilAnswersHeld()
            let second = ask()
            let third = ask()
            await sandbox.untilAnswersHeld(3)
            sandbox.releaseAnswers(1)
            #expect(try await first.value == 200)
            #expect(sandbox.heldAnswerCount == 2)
            sandbox.releaseAnswers()
            #expect(try await second.value == 200)
            #expect(try await third.value == 200)
            // A reset releases held answers too, and stopping does not wait for them.
            let fourth = ask()
            await sandbox.untilAnswersHeld()
            sandbox.reset()
            #expect(try await fourth.value == 200)
            sandbox.inject(.holdAnswer)
            let fifth = ask()
            await sandbox.untilAnswersHeld()
            await sandbox.stop()
            await #expect(throws: (any Error).self) { try await fifth.value }
        }
    }
}
