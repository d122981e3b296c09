import FMHTTP
import FMTestSupport
import Foundation
import NIOCore
import NIOPosix
import OpenCombine
import Testing

/// Real servers close a connection after 5 s without a request, so a client meets this every day.
@Suite(.timeLimit(.minutes(15)))
struct StaleConnectionTests {
    /// The server reads the second request on a connection and answers it with FIN: to the client that looks like a
    /// race with the server's idle timeout.
    private let stale: FaultServer.Answer = { request in
        request.connection == 1 && request.number == 2 ? [.close] : ok("x")
    }

    @Test func aSafeRequestIsSentOnceMore() async throws {
        try await withServer(answer: stale) { client, server, origin in
            #expect(await client.get(origin).value?.text == "x")
            #expect(await client.get(origin).value?.text == "x")
            #expect(server.acceptedCount == 2)
            #expect(server.requests.count == 3)
        }
    }

    @Test func eachTimeItIsSentIsTold() async throws {
        try await withServer(answer: stale) { client, _, origin in
            let sent = Locked(0)
            var request = HTTPRequest(origin: origin, target: "/", isSafeToRepeat: true)
            request.willBeSent = { sent.change { $0 += 1 } }
            #expect(await client.send(request).value?.text == "x")
            #expect(sent.value == 1)
            #expect(await client.send(request).value?.text == "x")
            #expect(sent.value == 3)
        }
    }

    /// A request that waits for a connection was not sent.
    @Test func whatWaitsIsNotToldOf() async throws {
        let gate = Gate()
        var configuration = HTTPClientConfiguration.patient
        configuration.maximumConnectionsPerOrigin = 1
        try await withServer(
            configuration: configuration,
            answer: { $0.number == 1 ? [.wait(gate)] + ok("x") : ok("y") }
        ) {
            client,
            server,
            origin in
            async let first = client.get(origin)
            await server.requestCount(atLeast: 1)
            let sent = Locked(0)
            var request = HTTPRequest(origin: origin, target: "/", isSafeToRepeat: true)
            request.willBeSent = { sent.change { $0 += 1 } }
            let waiting = request
            async let second = client.send(waiting)
            await until { client.counts.waiting == 1 }
            #expect(sent.value == 0)
            gate.open()
            #expect(await first.value?.text == "x")
            #expect(await second.value?.text == "y")
            #expect(sent.value == 1)
        }
    }

    @Test func anUnsafeRequestIsNot() async throws {
        try await withServer(answer: stale) { client, server, origin in
            #expect(await client.get(origin).value?.text == "x")
            let error = try #require(
                await client.send(HTTPRequest(method: .POST, origin: origin, target: "/")).failure
            )
            #expect(error.code == .connectionClosed)
            #expect(error.outcome == .unknown)
            #expect(server.requests.count == 2)
        }
    }

    @Test func onceIsEnough() async throws {
        try await withServer(answer: { $0.number == 1 && $0.connection == 1 ? ok("x") : [.close] }) {
            client,
            server,
            origin in
            #expect(await client.get(origin).value?.text == "x")
            let error = try #require(await client.get(origin).failure)
            #expect(error.code == .connectionClosed)
            #expect(server.requests.count == 3)
        }
    }

    @Test func aRequestIsNotRepeatedOnceTheAnswerHasBegun() async throws {
        try await withServer(answer: { $0.number == 2 ? [.send("H"), .close] : ok("x") }) { client, server, origin in
            #expect(await client.get(origin).value?.text == "x")
            let error = try #require(await client.get(origin).failure)
            #expect(error.code == .truncatedBody)
            #expect(server.requests.count == 2)
        }
    }

    @Test func aConnectionTheServerClosedAtRestIsNotUsed() async throws {
        try await withServer(answer: { _ in ok("x") + [.close] }) { client, server, origin in
            for number in 1...3 {
                let request = HTTPRequest(method: .POST, origin: origin, target: "/")
                #expect(await client.send(request).value?.text == "x")
                await until { client.counts == PoolCounts() }
                #expect(server.requests.count == number)
            }
        }
    }

    /// The server closes while the client's loop is busy, so that the kernel has the end but the loop has not read it
    /// when the next request comes. A request sent then would be lost, with an unknown outcome.
    @Test(arguments: [HTTPBody.none, .bytes(ByteBuffer(string: "body"))])
    func aConnectionWhoseEndWasNotReadYetTakesNoUnsafeRequest(body: HTTPBody) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let gate = Gate()
        try await withServer(
            eventLoopGroup: group,
            answer: { $0.connection == 1 ? ok("x") + [.wait(gate), .close] : ok("y") }
        ) { client, server, origin in
            let request = HTTPRequest(method: .POST, origin: origin, target: "/", body: body)
            #expect(await client.send(request).value?.text == "x")
            let second = TrackingSubscriber<HTTPResponsePart, HTTPClientError>()
            try await group.any().submit {
                gate.open()
                while !Self.endHasCome(from: server.port) {}
                client.parts(request).subscribe(second)
            }.get()
            #expect(await second.completion() == .finished)
            try #require(!second.values.isEmpty)
            #expect(HTTPResponse(second.values).text == "y")
            #expect(server.requests.map(\.connection) == [1, 2])
        }
        try await group.shutdownGracefully()
    }

    /// Whether the kernel has received the end of a connection to this port, read or not. On a busy machine that may be
    /// some time after the server has closed it.
    private static func endHasCome(from port: Int) -> Bool {
        guard let file = FileHandle(forReadingAtPath: "/proc/net/tcp") else { return true }
        var table = Data()
        // It is returned page by page; reading it as a whole would return the first page only.
        while let page = try? file.read(upToCount: 1 << 16), !page.isEmpty { table += page }
        return String(decoding: table, as: UTF8.self).split(separator: "\n").contains { line in
            let (fields, closeWait) = (line.split(separator: " "), "08")
            guard fields.count > 3, fields[3] == closeWait, let other = fields[2].split(separator: ":").last else {
                return false
            }
            return Int(other, radix: 16) == port
        }
    }
}
