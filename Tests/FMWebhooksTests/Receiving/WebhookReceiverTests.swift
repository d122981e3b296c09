import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import OpenCombine
import Testing

@testable import FMWebhooks

/// The receiver, used through a socket.
@Suite(.timeLimit(.minutes(15))) struct WebhookReceiverTests {
    private let key = WebhookKey(mark: UUID(), secret: "s3cret")
    private let time = TestClock()

    private var path: String { key.path(database: "Harbor", table: "Vessels") }

    /// - Parameter requestTimeout: longer than the default, since a busy machine may delay a connection.
    private func receiver(
        _ configuration: WebhookReceiver.Configuration = .init(),
        requestTimeout: Duration = .seconds(3600),
        onHint: (@Sendable (DataAPI.ChangeHint) -> Void)? = nil
    ) -> WebhookReceiver {
        var configuration = configuration
        configuration.requestTimeout = requestTimeout
        return WebhookReceiver(key: key, configuration: configuration, time: time.sessionTime, onHint: onHint)
    }

    private func connect(_ receiver: WebhookReceiver, authority: String? = nil) async throws -> RawHTTPClient {
        let port: Int = try #require(receiver.port)
        return try await .connect(host: "127.0.0.1", port: port, certificateAuthority: authority)
    }

    private func post(
        _ client: RawHTTPClient,
        _ body: String,
        path: String? = nil,
        secret: String = "s3cret"
    ) async throws -> RawResponse {
        try await client.send(
            "POST",
            path ?? self.path,
            headers: [(WebhookKey.header, secret)],
            body: Array(body.utf8)
        )
    }

    private func delivery(_ id: Int) -> String { #"{"@odata.context":"x#Vessels","value":[{"ROWID":\#(id)}]}"# }

    @Test func deliveriesAreAnsweredAtOnceAndOneHintComesOfThem() async throws {
        let calls = Watched<[DataAPI.ChangeHint]>([])
        let receiver = receiver { hint in calls.change { $0.append(hint) } }
        let hints = TrackingSubscriber<DataAPI.ChangeHint, Never>()
        receiver.hints.subscribe(hints)
        try await receiver.start()
        let client = try await connect(receiver)
        for id in [3, 1, 2, 3] {
            let response = try await post(client, delivery(id))
            expectNoDifference(response.status, 200)
            expectNoDifference(response.body, [])
            expectNoDifference(response["content-length"], "0")
        }
        await time.untilTimer(in: .milliseconds(100))
        // The last delivery counts by now: it is answered first, but recorded before its loop does anything else.
        await until { receiver.counters.accepted == 4 }
        expectNoDifference(hints.values, [])
        time.advance(by: .milliseconds(100))
        await hints.valueCount(atLeast: 1)
        let hint = DataAPI.ChangeHint(
            database: "Harbor",
            table: "Vessels",
            rowIDs: [1, 2, 3],
            isSchema: false,
            receivedAt: time.date.addingTimeInterval(-0.1)
        )
        expectNoDifference(hints.values, [hint])
        await calls.wait { $0.count == 1 }
        expectNoDifference(calls.value, [hint])
        try await client.close()
        await receiver.stop()
        await hints.completion()
        expectNoDifference(receiver.counters, .init(accepted: 4))
    }

    @Test func strangersAreRefusedAndWakeNobody() async throws {
        let receiver = receiver()
        try await receiver.start()
        let wrong: [(String, String, String, Int)] = [
            ("POST", path, "wrong", 401), ("POST", "/", "s3cret", 404), ("GET", path, "s3cret", 404),
            ("POST", "/\(UUID().uuidString)/Harbor/Vessels", "s3cret", 404),
        ]
        for (method, path, secret, status) in wrong {
            let client = try await connect(receiver)
            let response = try await client.send(
                method,
                path,
                headers: [(WebhookKey.header, secret)],
                body: Array(delivery(1).utf8)
            )
            expectNoDifference(response.status, status)
            try await client.closed()
        }
        expectNoDifference(receiver.counters, .init(refused: 4))
        let hints = TrackingSubscriber<DataAPI.ChangeHint, Never>()
        receiver.hints.subscribe(hints)
        await receiver.stop()
        await hints.completion()
        expectNoDifference(hints.values, [])
    }

    @Test func aBodyThatIsTooLongIsAHintAtTheTable() async throws {
        let receiver = receiver(.init(maximumBodyBytes: 1_000))
        let hints = TrackingSubscriber<DataAPI.ChangeHint, Never>()
        receiver.hints.subscribe(hints)
        try await receiver.start()
        let client = try await connect(receiver)
        let long = try await post(client, delivery(1) + String(repeating: " ", count: 300_000))
        expectNoDifference(long.status, 200)
        // The connection can still be used.
        #expect(try await post(client, delivery(2)).status == 200)
        await until { receiver.counters.accepted == 2 }
        expectNoDifference(receiver.counters, .init(accepted: 2, tooLong: 1))
        await receiver.stop()
        await hints.completion()
        // The hint that was delayed when the receiver stopped is not lost.
        expectNoDifference(hints.values.map(\.rowIDs), [nil])
        expectNoDifference(hints.values.map(\.table), ["Vessels"])
    }

    @Test func aHeadThatIsTooLongEndsItsConnection() async throws {
        let receiver = receiver(.init(maximumHeadBytes: 2_000))
        try await receiver.start()
        let client = try await connect(receiver)
        do {
            let long = String(repeating: "x", count: 20_000)
            _ = try await client.send("POST", path, headers: [("X-Long", long), (WebhookKey.header, "s3cret")])
            Issue.record("it was answered")
        } catch {}
        try await client.closed()
        expectNoDifference(receiver.counters.accepted, 0)
        await receiver.stop()
    }

    @Test func aConnectionTooManyIsClosedAndTheOthersGoOn() async throws {
        let receiver = receiver(.init(maximumConnections: 2))
        try await receiver.start()
        let first = try await connect(receiver)
        let second = try await connect(receiver)
        #expect(try await post(first, delivery(1)).status == 200)
        #expect(try await post(second, delivery(1)).status == 200)
        let third = try await connect(receiver)
        try await third.closed()
        expectNoDifference(receiver.counters.turnedAway, 1)
        #expect(try await post(first, delivery(1)).status == 200)
        try await first.close()
        // Its place is free.
        await until { receiver.connectionCount == 1 }
        let fourth = try await connect(receiver)
        #expect(try await post(fourth, delivery(1)).status == 200)
        await receiver.stop()
    }

    /// Over TLS these connections do not even begin the handshake.
    @Test(arguments: [false, true]) func silentStrangersKeepNobodyOut(overTLS: Bool) async throws {
        let receiver = receiver(.init(tls: overTLS ? tlsFiles : nil, maximumConnections: 4))
        let authority = overTLS ? Sandbox.certificateAuthorityFile : nil
        try await receiver.start()
        var strangers: [RawHTTPClient] = []
        for number in 1...4 {
            strangers.append(try await connect(receiver))
            await until { receiver.connectionCount == number }
        }
        let host = try await connect(receiver, authority: authority)
        #expect(try await post(host, delivery(1)).status == 200)
        try await strangers[0].closed()
        expectNoDifference(receiver.counters.turnedAway, 1)
        // After twenty more of them the host's connection still works, and another host can connect too.
        for number in 1...20 {
            strangers.append(try await connect(receiver))
            await until { receiver.counters.turnedAway == 1 + number }
        }
        #expect(try await post(host, delivery(2)).status == 200)
        let other = try await connect(receiver, authority: authority)
        #expect(try await post(other, delivery(3)).status == 200)
        for stranger in strangers.prefix(22) { try await stranger.closed() }
        expectNoDifference(receiver.connectionCount, 4)
        await until { receiver.counters.accepted == 3 }
        expectNoDifference(receiver.counters, .init(accepted: 3, turnedAway: 22))
        await receiver.stop()
    }

    /// Half a head and a wrong secret do not authenticate a connection; the head of a delivery does.
    @Test func aConnectionThatHasNotProvedItselfMakesRoom() throws {
        let receiver = receiver(.init(maximumConnections: 3))
        func connect(_ text: String) throws -> EmbeddedChannel {
            let channel = EmbeddedChannel()
            #expect(receiver.admit(channel))
            try WebhookHandler.add(to: channel.pipeline.syncOperations, for: receiver)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            if !text.isEmpty { try channel.writeInbound(ByteBuffer(string: text)) }
            return channel
        }
        func isOpen(_ channel: EmbeddedChannel) -> Bool {
            channel.embeddedEventLoop.run()
            return channel.isActive
        }
        func head(_ secret: String) -> String {
            "POST \(path) HTTP/1.1\r\nHost: h\r\n\(WebhookKey.header): \(secret)\r\nContent-Length: 10\r\n\r\n"
        }
        let half = try connect("POST \(path) HTTP/1.1\r\nHost: h\r\n\(WebhookKey.header): s3c")
        let wrong = try connect(head("wrong") + "12345")
        let busy = try connect(head("s3cret") + "12345")
        expectNoDifference([half, wrong, busy].map(isOpen), [true, true, true])
        let first = try connect("")
        expectNoDifference([half, wrong, busy, first].map(isOpen), [false, true, true, true])
        let second = try connect(head("s3cret"))
        expectNoDifference([wrong, busy, first, second].map(isOpen), [false, true, true, true])
        let third = try connect(head("s3cret"))
        expectNoDifference([busy, first, second, third].map(isOpen), [true, false, true, true])
        // All these connections are authenticated.
        #expect(!receiver.admit(EmbeddedChannel()))
        try busy.writeInbound(ByteBuffer(string: "67890"))
        let answer = try busy.readOutbound(as: ByteBuffer.self).map { String(buffer: $0) }
        #expect(answer?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
        // It has authenticated itself, so it may stay idle.
        #expect(!receiver.admit(EmbeddedChannel()))
        expectNoDifference(receiver.counters, .init(accepted: 1, refused: 1, turnedAway: 5))
        for channel in [half, wrong, busy, first, second, third] { _ = try? channel.finish() }
        expectNoDifference(receiver.connectionCount, 0)
    }

    @Test func manyAtOnce() async throws {
        let receiver = receiver()
        let hints = TrackingSubscriber<DataAPI.ChangeHint, Never>()
        receiver.hints.subscribe(hints)
        try await receiver.start()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for connection in 0..<16 {
                group.addTask {
                    let client = try await connect(receiver)
                    for number in 1...20 {
                        let response = try await post(client, delivery(connection * 20 + number))
                        #expect(response.status == 200)
                    }
                    try await client.close()
                }
            }
            try await group.waitForAll()
        }
        await until { receiver.counters.accepted == 320 }
        await receiver.stop()
        await hints.completion()
        expectNoDifference(hints.values.map(\.rowIDs), [Array(1...320)])
    }

    /// A client that sends half a request delays no other, and its connection is closed after the time limit.
    @Test func aSlowClientLosesItsConnection() throws {
        let receiver = receiver(requestTimeout: .seconds(30))
        let channel = EmbeddedChannel()
        try WebhookHandler.add(to: channel.pipeline.syncOperations, for: receiver)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let head = "POST \(path) HTTP/1.1\r\nHost: h\r\n\(WebhookKey.header): s3cret\r\nContent-Length: 10\r\n\r\n"
        try channel.writeInbound(ByteBuffer(string: head + "12345"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(string: "6"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        expectNoDifference(receiver.counters, .init())
        _ = try? channel.finish()
    }

    /// The answer is written before the body is processed.
    @Test func eachRequestHasItsOwnTimeAndTheAnswerComesBeforeTheWork() throws {
        let receiver = receiver(requestTimeout: .seconds(30))
        let channel = EmbeddedChannel()
        try WebhookHandler.add(to: channel.pipeline.syncOperations, for: receiver)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for number in 1...3 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(20))
            let request =
                "POST \(path) HTTP/1.1\r\nHost: h\r\n\(WebhookKey.header): s3cret\r\nContent-Length: 2\r\n\r\n{}"
            try channel.writeInbound(ByteBuffer(string: request))
            let answer = try channel.readOutbound(as: ByteBuffer.self).map { String(buffer: $0) }
            #expect(answer?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
            while try channel.readOutbound(as: ByteBuffer.self) != nil {}
            expectNoDifference(receiver.counters.accepted, number)
        }
        _ = try? channel.finish()
    }

    private var tlsFiles: WebhookReceiver.TLSFiles {
        let folder = URL(fileURLWithPath: Sandbox.certificateAuthorityFile).deletingLastPathComponent()
        return WebhookReceiver.TLSFiles(
            certificate: folder.appendingPathComponent("server.pem").path,
            key: folder.appendingPathComponent("server.key.pem").path
        )
    }

    @Test func overTLSByFiles() async throws {
        let receiver = receiver(.init(tls: tlsFiles))
        try await receiver.start()
        let client = try await connect(receiver, authority: Sandbox.certificateAuthorityFile)
        #expect(try await post(client, delivery(1)).status == 200)
        await receiver.stop()
    }

    @Test func whatCannotStartSaysWhy() async throws {
        let first = receiver()
        try await first.start()
        let port: Int = try #require(first.port)
        let taken = receiver(.init(port: port))
        let noFile = receiver(.init(tls: .init(certificate: "/nowhere/c.pem", key: "/nowhere/k.pem")))
        for receiver in [taken, noFile, first] {
            do {
                try await receiver.start()
                Issue.record("it has started")
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
        #expect(taken.port == nil)
        await first.stop()
        await first.stop()
        #expect(first.port == nil)
    }
}
