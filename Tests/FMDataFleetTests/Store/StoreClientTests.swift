import CustomDump
import FMTestSupport
import Foundation
import NIOCore
import Testing

@testable import FMDataFleet

/// The client against a real store.
@Suite(.needsStore, .timeLimit(.minutes(5)))
struct StoreClientTests {
    @Test func aCommandIsAnswered() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            _ = try await client.send { _ in RESPCommand("SET", "k", "v\r\n") }
            expectNoDifference(
                awaited: try await client.send { _ in RESPCommand("GET", "k") },
                .text(Array("v\r\n".utf8))
            )
            let error = await #expect(throws: StoreError.self) {
                try await client.send { _ in RESPCommand("HGETALL", "k") }
            }
            expectNoDifference(error, StoreError(.refused, word: "WRONGTYPE"))
            await client.shutdown()
        }
    }

    @Test func manyCommandsHaveTheirOwnAnswers() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            try await withThrowingTaskGroup(of: (Int, RESPValue).self) { group in
                for number in 0..<500 {
                    group.addTask { (number, try await client.send { _ in RESPCommand("ECHO", "\(number)") }) }
                }
                for try await (number, answer) in group { expectNoDifference(answer.string, "\(number)") }
            }
            await client.shutdown()
        }
    }

    @Test func aScriptThatTheStoreDoesNotHaveIsSentOnceMoreInFull() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            let script = StoreScript(
                text: "return {ARGV[1], KEYS[1]}",
                hash: "3b5c33e94a8e2b0fa1d6b6e4a53d1b4d5e8d4f7a"
            )
            let answer = try await client.eval(script, keys: ["k"]) { run in [Array(run.id.utf8)] }
            expectNoDifference(answer.elements?.count, 2)
            expectNoDifference(answer.elements?[0].string?.count, 40)
            await client.shutdown()
        }
    }

    /// A store without `HELLO` knows only version 2, in which messages need a connection of their own.
    @Test(arguments: [[], ["--rename-command", "HELLO", "HOLA"]])
    func messagesAreDelivered(options: [String]) async throws {
        try await StoreServer.run(options: options) { server in
            let heard = Locked<[String]>([])
            let observer = StoreClient.Observer(message: { channel, text in
                heard.change { $0.append("\(channel) \(String(decoding: text, as: UTF8.self))") }
            })
            let client = StoreClient.make(at: server.address, observer: observer)
            client.subscribe("c")
            while try await client.send({ _ in RESPCommand("PUBLISH", "c", "g") }) == .integer(0) {}
            await until { !heard.value.isEmpty }
            expectNoDifference(heard.value, ["c g"])
            client.unsubscribe("c")
            while try await client.send({ _ in RESPCommand("PUBLISH", "c", "g") }) == .integer(1) {}
            await client.shutdown()
        }
    }

    @Test func anotherRunOfTheStoreIsNoticedAndChannelsAreSubscribedAgain() async throws {
        try await StoreServer.run { server in
            let runs = Locked<[StoreRun]>([])
            let heard = Locked(0)
            let observer = StoreClient.Observer(
                message: { _, _ in heard.change { $0 += 1 } },
                connected: { run in runs.change { $0.append(run) } }
            )
            let client = StoreClient.make(at: server.address, observer: observer)
            client.subscribe("c")
            await until { runs.value.count == 1 }
            server.kill()
            try await server.start()
            await until { runs.value.count >= 2 }
            #expect(Set(runs.value.map(\.id)).count >= 2)
            while heard.value == 0, !Task.isCancelled {
                _ = try? await client.send { _ in RESPCommand("PUBLISH", "c", "g") }
            }
            await client.shutdown()
        }
    }

    @Test func aStoreThatIsNotThereFailsTheCommands() async {
        let client = StoreClient.make(
            at: StoreAddress(socketPath: "/nonexistent/s"),
            connection: .milliseconds(100)
        )
        await #expect(throws: StoreError.unreachable) { try await client.send { _ in RESPCommand("PING") } }
        await client.shutdown()
        await #expect(throws: StoreError.shutdown) { try await client.send { _ in RESPCommand("PING") } }
    }

    @Test func aStoreThatSaysNothingFailsTheCommands() async throws {
        try await StoreServer.run { server in
            let proxy = try await StoreProxy.start(before: server)
            proxy.behave(.blackHole)
            let client = StoreClient(
                address: StoreAddress(socketPath: proxy.socket),
                name: "fmdata-test",
                times: StoreClient.Times(answer: .milliseconds(100), connection: .milliseconds(100)),
                logger: nil,
                observer: StoreClient.Observer()
            )
            await #expect(throws: StoreError.self) { try await client.send { _ in RESPCommand("PING") } }
            await client.shutdown()
            await proxy.stop()
        }
    }

    @Test func aPasswordIsNeeded() async throws {
        try await StoreServer.run(options: ["--requirepass", "secret"]) { server in
            var address = server.address
            address.password = "secret"
            let client = StoreClient.make(at: address)
            _ = try await client.send { _ in RESPCommand("PING") }
            await client.shutdown()
            address.password = "wrong"
            let stranger = StoreClient.make(at: address)
            await #expect(throws: StoreError(.refused, word: "WRONGPASS")) {
                try await stranger.send { _ in RESPCommand("PING") }
            }
            await stranger.shutdown()
        }
    }
}
