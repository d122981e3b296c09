import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

/// The server ends the connection after each byte of its answer, in each possible way.
@Suite(.timeLimit(.minutes(15)))
struct CutTests {
    enum Way: String, CaseIterable, Sendable {
        case close, reset, closeOutput

        var step: FaultServer.Step {
            switch self {
            case .close: .close
            case .reset: .reset
            case .closeOutput: .closeOutput
            }
        }
    }

    private static let answers = [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-A: b\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n1\r\nd\r\n0\r\nT: t\r\n\r\n",
        "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    ]

    @Test(.thorough, arguments: Way.allCases, answers)
    func afterEachByte(way: Way, answer: String) async throws {
        try await afterEachByte(way, answer, FaultServer.Options(), HTTPClientConfiguration())
    }

    /// Each cut costs a handshake, so there is only one answer. A reset comes without close_notify.
    @Test(.thorough, arguments: [Way.close, .reset])
    func afterEachByteUnderTLS(way: Way) async throws {
        let options = FaultServer.Options(tls: try TestCertificates.serverContext())
        let tls = TLSOptions(roots: .only([.bytes(Array(TestCertificates.authority.utf8))]))
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
        try await afterEachByte(way, answer, options, HTTPClientConfiguration { $0.tls = tls })
    }

    private func afterEachByte(
        _ way: Way,
        _ answer: String,
        _ options: FaultServer.Options,
        _ configuration: HTTPClientConfiguration
    ) async throws {
        // The target is the length to send.
        let steps: FaultServer.Answer = { request in
            let cut = Int(request.target.dropFirst()) ?? 0
            return [.send(String(answer.prefix(cut))), way.step]
        }
        // The head of the final response, not of a 1xx before it.
        let headLength = answer.ranges(of: "HTTP/1.1 200").first.map { head in
            answer[..<head.lowerBound].count
                + (answer[head.lowerBound...].firstRange(of: "\r\n\r\n").map {
                    answer[head.lowerBound..<$0.upperBound].count
                } ?? 0)
        }
        try await withServer(options, configuration: configuration, answer: steps) { client, server, origin in
            for cut in 0..<answer.count {
                let error = try #require(
                    await client.send(HTTPRequest(origin: origin, target: "/\(cut)")).failure,
                    "cut at \(cut)"
                )
                switch way {
                case .reset:
                    // A reset may discard bytes in flight, so the client may have received less than was sent.
                    #expect([.truncatedBody, .connectionClosed].contains(error.code), "cut at \(cut): \(error)")
                    #expect(error.outcome != .notSent)
                case .close, .closeOutput:
                    #expect(error.code == (cut == 0 ? .connectionClosed : .truncatedBody), "cut at \(cut): \(error)")
                    #expect(error.outcome == (cut < headLength ?? 0 ? .unknown : .answered), "cut at \(cut)")
                }
            }
            #expect(server.requests.count == answer.count, "nothing was repeated")
            // The complete answer succeeds, whatever follows.
            if way != .reset {
                let whole = await client.send(HTTPRequest(origin: origin, target: "/\(answer.count)")).value
                #expect(whole?.status == .ok)
            }
        }
    }

    @Test(arguments: answers)
    func byteByByteIsOnlySlow(answer: String) async throws {
        try await withServer(answer: { _ in [.sendByteByByte(answer)] }) { client, server, origin in
            for _ in 0..<2 { #expect(await client.get(origin).value?.status == .ok) }
            #expect(server.acceptedCount == 1)
        }
    }

    @Test(arguments: answers)
    func stalledAfterEachByte(answer: String) async throws {
        let steps: FaultServer.Answer = { request in
            [.send(String(answer.prefix(Int(request.target.dropFirst()) ?? 0)))]
        }
        let timeouts = HTTPTimeouts(firstByte: .milliseconds(10), idle: .milliseconds(10))
        let configuration = HTTPClientConfiguration {
            $0.timeouts = timeouts
            $0.maximumConnectionsPerOrigin = 100
        }
        try await withServer(configuration: configuration, answer: steps) { client, _, origin in
            let results = await withTaskGroup { group in
                for cut in 0..<answer.count {
                    group.addTask { await client.send(HTTPRequest(origin: origin, target: "/\(cut)")).failure }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.allSatisfy { $0?.code == .firstByteTimeout || $0?.code == .idleTimeout })
        }
    }

    @Test func acceptedAndClosedAtOnce() async throws {
        let options = FaultServer.Options(onAccept: { _ in [.close] })
        try await withServer(options, answer: { _ in ok() }) { client, server, origin in
            for _ in 0..<3 {
                let error = await client.send(HTTPRequest(method: .POST, origin: origin, target: "/")).failure
                #expect(error != nil)
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test func acceptedAndClosedAtOnceUnderTLS() async throws {
        let options = FaultServer.Options(tls: try TestCertificates.serverContext(), onAccept: { _ in [.reset] })
        try await withServer(options, answer: { _ in ok() }) { client, _, origin in
            let error = await client.get(origin).failure
            #expect(error?.outcome == .notSent)
        }
    }

    @Test func garbageBeforeTheFirstRequest() async throws {
        let options = FaultServer.Options(onAccept: {
            $0 == 1 ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")] : []
        })
        try await withServer(options, answer: { _ in ok("good") }) { client, server, origin in
            // In either order of garbage and request, the answer is never taken for another request's.
            let first = await client.get(origin)
            #expect(first.value?.text != "good" || server.acceptedCount == 2)
            #expect(await client.get(origin).value?.text == "good")
        }
    }

    @Test func halfClosedAfterTheAnswer() async throws {
        try await withServer(answer: { _ in ok("x") + [.closeOutput] }) { client, server, origin in
            #expect(await client.get(origin).value?.text == "x")
            await until { client.counts == PoolCounts() }
            #expect(await client.get(origin).value?.text == "x")
        }
    }

    @Test(.thorough) func aTLSConnectionCutWithinABodyWithoutLength() async throws {
        let options = FaultServer.Options(tls: try TestCertificates.serverContext())
        let tls = TLSOptions(roots: .only([.bytes(Array(TestCertificates.authority.utf8))]))
        let answer: FaultServer.Answer = { request in
            [.send("HTTP/1.1 200 OK\r\n\r\nabc"), request.target == "/cut" ? .reset : .close]
        }
        try await withServer(options, configuration: HTTPClientConfiguration { $0.tls = tls }, answer: answer) {
            client,
            _,
            origin in
            #expect(await client.get(origin, "/whole").value?.text == "abc")
            // Without the close_notify of TLS an attacker could have cut the body.
            #expect(await client.get(origin, "/cut").failure?.outcome != .notSent)
        }
    }
}
