import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataFleet

/// Changes of records as entries of a stream in a real store.
@Suite(.needsStore, .timeLimit(.minutes(10)))
struct ChangeStreamTests {
    private struct Contact: LayoutRecord, Encodable {
        static let layout = "Contacts"

        var name: String

        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    /// The publishers, the writers and the consumers of one test.
    private struct Site {
        let store: StoreServer
        let contacts: DataAPI.TypedLayout<Contact>
        let consumer: StoreClient

        func stream(through proxy: StoreProxy? = nil) throws -> ChangeStream {
            var settings = ChangeStream.Settings()
            settings.life = 3_600_000
            settings.renewal = .milliseconds(100)
            settings.pause = .milliseconds(20)
            settings.times = .ofTests()
            let address = proxy.map { StoreAddress(socketPath: $0.socket) } ?? store.address
            return try ChangeStream("c", store: address, maximumLength: 1000, logger: nil, settings: settings)
        }

        /// Publishes until the task is cancelled. The writes of the test make it poll.
        func publish(_ stream: ChangeStream) -> Task<Void, any Error> {
            Task { try await stream.publish(contacts) }
        }

        func end(_ publishing: Task<Void, any Error>, _ stream: ChangeStream) async {
            publishing.cancel()
            _ = await publishing.result
            await stream.shutdown()
        }

        /// The entries as texts: `record 1 "Ada"`.
        func entries() async throws -> [String] {
            let answer = try await consumer.send { _ in RESPCommand("XRANGE", "fm:{c}:changes", "-", "+") }
            return (answer.elements ?? []).map { entry in
                let words = (entry.elements?.last?.elements ?? []).map { $0.string ?? "" }
                let fields = Dictionary(
                    stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }
                ) { first, _ in first }
                let more = fields["fields"] ?? fields["reason"] ?? ""
                return [fields["kind"], fields["id"], fields["mod"], more].compactMap { $0 }.filter { $0 != "" }
                    .joined(separator: " ")
            }
        }

        /// Waits until the stream has so many entries of this kind, and returns all.
        func entries(_ kind: String, _ count: Int) async throws -> [String] {
            while !Task.isCancelled {
                let entries = try await entries()
                if entries.count(where: { $0.hasPrefix(kind) }) >= count { return entries }
            }
            throw CancellationError()
        }

        func rename(_ id: Int, _ name: String) async throws {
            _ = try await contacts.edit(id, setting: ["Name": .text(name)]).firstValue()
        }
    }

    private func withSite(_ body: (Site) async throws -> Void) async throws {
        try await StoreServer.run { store in
            let host = try await Sandbox.start([.sample], configuration: .patient)
            let database = DataAPI.Server(host: host.url)
                .addDatabase("World", credentials: Credentials(user: "admin", password: "secret"))
            let consumer = StoreClient.make(at: store.address)
            let site = Site(store: store, contacts: database.layout(Contact.self), consumer: consumer)
            try await body(site)
            _ = try await database.server.shutdown().firstValue()
            await consumer.shutdown()
            await host.stop()
        }
    }

    private func expectEachVersionOnce(_ entries: [String]) {
        let versions = entries.filter { $0.hasPrefix("record ") }
        expectNoDifference(Set(versions).count, versions.count)
    }

    /// Returns when the publisher has the answers to all that is in the stream: one to a renewal has come behind them.
    private func settled(_ proxy: StoreProxy) async {
        proxy.behave(.pass)
        let answer = ":1\r\n"
        await until { proxy.deliveredBytes >= 2 * answer.utf8.count }
    }

    /// Whether a record fits the type can change without a commit.
    @Test func whatDoesNotFitIsAskedForAgainByTheNextPublisher() async throws {
        struct Numbered: LayoutRecord, Encodable {
            static let layout = "Contacts"

            var name: Int

            enum CodingKeys: String, CodingKey { case name = "Name" }
        }
        try await withSite { site in
            try await site.rename(1, "7")
            let numbered = site.contacts.layout.database.layout(Numbered.self)
            var entries: [String] = []
            for run in 1...2 {
                let stream = try site.stream()
                let publishing = Task { try await stream.publish(numbered) }
                _ = try await site.entries("unreadable 2 ", run)
                // A change comes behind what the run has read first.
                if run == 2 { try await site.rename(1, "8") }
                entries = try await site.entries("record 1 ", run)
                await site.end(publishing, stream)
            }
            let records = entries.filter { $0.hasPrefix("record ") }
            expectNoDifference(records, [#"record 1 1 {"Name":7}"#, #"record 1 2 {"Name":8}"#])
        }
    }

    @Test func theScriptHasTheHashByWhichItIsCalled() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            let answer = try await client.send { _ in RESPCommand("SCRIPT", "LOAD", StoreScript.changes.text) }
            expectNoDifference(answer.string, StoreScript.changes.hash)
            await client.shutdown()
        }
    }

    @Test func allRecordsAreInTheStreamAndThenTheirChanges() async throws {
        try await withSite { site in
            let stream = try site.stream()
            let publishing = site.publish(stream)
            let first = try await site.entries("complete", 1)
            expectNoDifference(first.first, "begin")
            expectNoDifference(first.last, "complete")
            let count = try await site.contacts.count().firstValue()
            expectNoDifference(first.count { $0.hasPrefix("record ") }, count)
            try await site.rename(1, "Countess")
            let second = try await site.entries("complete", 2)
            expectNoDifference(second.dropFirst(first.count).count, 2)
            #expect(second[first.count].hasSuffix(#"{"Name":"Countess"}"#))
            _ = try await site.contacts.delete(1).firstValue()
            let third = try await site.entries("complete", 3)
            expectNoDifference(Array(third.dropFirst(second.count)), ["gone 1 deleted", "complete"])
            await site.end(publishing, stream)
        }
    }

    @Test func anotherRunGoesOnAndPublishesNothingAgain() async throws {
        try await withSite { site in
            let first = try site.stream()
            let publishing = site.publish(first)
            let before = try await site.entries("complete", 1)
            await site.end(publishing, first)
            try await site.rename(2, "Emmy")
            let next = try site.stream()
            let publishingNext = site.publish(next)
            let after = try await site.entries("complete", 2)
            expectNoDifference(after.count, before.count + 2)
            expectEachVersionOnce(after)
            await site.end(publishingNext, next)
        }
    }

    /// The store has carried out an append, and its answer is lost with the publisher.
    @Test func aKillBetweenTheEntryAndItsAnswerRepeatsNothingAndLosesNothing() async throws {
        try await withSite { site in
            let proxy = try await StoreProxy.start(before: site.store)
            let killed = try site.stream(through: proxy)
            let publishing = site.publish(killed)
            _ = try await site.entries("complete", 1)
            await settled(proxy)
            proxy.behave(.swallowAnswers)
            try await site.rename(1, "Countess")
            _ = try await site.entries("record", try await site.contacts.count().firstValue() + 1)
            publishing.cancel()
            await killed.shutdown()
            _ = await publishing.result
            proxy.behave(.pass)
            // Its lease ends.
            _ = try await site.consumer.send { _ in RESPCommand("HSET", "fm:{c}:publisher", "u", "0") }
            try await site.rename(2, "Emmy")
            let next = try site.stream()
            let publishingNext = site.publish(next)
            let entries = try await site.entries("complete", 2)
            expectEachVersionOnce(entries)
            for name in ["Countess", "Emmy"] { expectNoDifference(entries.count { $0.contains(name) }, 1) }
            await site.end(publishingNext, next)
            await proxy.stop()
        }
    }

    @Test func anAppendWithoutAnAnswerIsRepeatedAndDoneOnce() async throws {
        try await withSite { site in
            let proxy = try await StoreProxy.start(before: site.store)
            let stream = try site.stream(through: proxy)
            let publishing = site.publish(stream)
            _ = try await site.entries("complete", 1)
            await settled(proxy)
            proxy.behave(.swallowAnswers)
            try await site.rename(1, "Countess")
            await until { proxy.lossCount > 0 }
            _ = try await site.entries("record", try await site.contacts.count().firstValue() + 1)
            proxy.behave(.pass)
            try await site.rename(2, "Emmy")
            let entries = try await site.entries("complete", 2)
            expectEachVersionOnce(entries)
            await site.end(publishing, stream)
            await proxy.stop()
        }
    }

    @Test func onePublishesAndAnotherTakesOver() async throws {
        try await withSite { site in
            let (first, second) = (try site.stream(), try site.stream())
            let publishing = site.publish(first)
            let before = try await site.entries("complete", 1)
            let waiting = site.publish(second)
            try await site.rename(1, "Countess")
            _ = try await site.entries("complete", 2)
            await site.end(publishing, first)
            try await site.rename(2, "Emmy")
            let after = try await site.entries("complete", 3)
            expectNoDifference(after.count, before.count + 4)
            expectEachVersionOnce(after)
            await site.end(waiting, second)
        }
    }

    // MARK: The script

    private func calls(_ client: StoreClient) -> ChangeCalls {
        ChangeCalls(client: client, names: .init("c"), life: 3_600_000)
    }

    private func entry(_ id: Int) -> ChangeCalls.Entry {
        ChangeCalls.Entry(kind: .record, id: "\(id)", modId: "7", more: ("fields", "{}"))
    }

    @Test func aPublisherThatSleptIsRefused() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            let calls = calls(client)
            expectNoDifference(awaited: try await calls.lead("a", epoch: "e"), .leads(sequence: 0))
            expectNoDifference(awaited: try await calls.lead("b", epoch: "f"), .waits(1000))
            _ = try await client.send { _ in RESPCommand("HSET", "fm:{c}:publisher", "u", "0") }
            expectNoDifference(awaited: try await calls.lead("b", epoch: "f"), .leads(sequence: 0))
            let entries = [entry(1)]
            expectNoDifference(
                awaited: try await calls.append(entries, mark: "m", sequence: 1, length: 9, "a"),
                false
            )
            expectNoDifference(awaited: try await calls.hold("a"), false)
            expectNoDifference(awaited: try await calls.resign("a"), false)
            expectNoDifference(awaited: try await calls.mark(), nil)
            expectNoDifference(awaited: try await calls.append(entries, mark: "m", sequence: 1, length: 9, "b"), true)
            expectNoDifference(awaited: try await calls.mark(), "m")
            // It was done before.
            expectNoDifference(
                awaited: try await calls.append([entry(2)], mark: "n", sequence: 1, length: 9, "b"),
                true
            )
            expectNoDifference(awaited: try await calls.mark(), "m")
            expectNoDifference(
                awaited: try await calls.append([entry(2)], mark: nil, sequence: 3, length: 9, "b"),
                false
            )
            await client.shutdown()
        }
    }

    @Test(.thorough) func manyVersionsAreReadInTheirOrder() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            let calls = calls(client)
            _ = try await calls.lead("a", epoch: "e")
            let entries = (1...4500).map { entry($0 * 3) }
            _ = try await calls.append(entries, mark: nil, sequence: 1, length: 1_000_000, "a")
            let all = try await calls.versions(after: nil, limit: 5000)
            expectNoDifference(all.map(\.id), (1...4500).map { $0 * 3 })
            expectNoDifference(all.allSatisfy { $0.modId == 7 }, true)
            expectNoDifference(awaited: try await calls.versions(after: 9000, limit: 2).map(\.id), [9003, 9006])
            expectNoDifference(awaited: try await calls.versions(after: 13_500, limit: 2).map(\.id), [])
            // A reset forgets them and the mark.
            let reset = ChangeCalls.Entry(kind: .reset, more: ("reason", "otherFile"))
            _ = try await calls.append([reset], mark: nil, sequence: 2, length: 1_000_000, "a")
            expectNoDifference(awaited: try await calls.versions(after: nil, limit: 10).map(\.id), [])
            await client.shutdown()
        }
    }

    @Test func onlyTheDocumentedRightsAreNeeded() async throws {
        let rights =
            "on >secret ~fm:* +hello +ping +info +client|setname +script|load +eval +evalsha +time +hget +hmget +hset "
            + "+hdel +del +zadd +zrem +zrangebyscore +xadd"
        try await StoreServer.run { server in
            let owner = StoreClient.make(at: server.address)
            _ = try await owner.send { _ in
                var command = RESPCommand("ACL", "SETUSER", "publisher")
                for right in rights.split(separator: " ") { command.append(String(right)) }
                return command
            }
            await owner.shutdown()
            var address = server.address
            (address.user, address.password) = ("publisher", "secret")
            let client = StoreClient.make(at: address)
            let calls = calls(client)
            _ = try await calls.lead("a", epoch: "e")
            let entries = [
                entry(1), ChangeCalls.Entry(kind: .gone, id: "1", more: ("reason", "left")),
                ChangeCalls.Entry(kind: .reset, more: ("reason", "otherFile")),
            ]
            expectNoDifference(awaited: try await calls.append(entries, mark: "m", sequence: 1, length: 9, "a"), true)
            expectNoDifference(awaited: try await calls.versions(after: 3, limit: 5).count, 0)
            expectNoDifference(awaited: try await calls.mark(), "m")
            expectNoDifference(awaited: try await calls.resign("a"), true)
            await client.shutdown()
        }
    }

    @Test(arguments: ["", "a b", "{a}", "ä"]) func aNameThatIsNoneIsRefused(name: String) {
        #expect(throws: ChangeStream.InvalidName()) {
            try ChangeStream(name, store: StoreAddress(socketPath: "/nonexistent/s"))
        }
    }

    // MARK: The command

    /// Starts `fmdata watch` of the contacts' names.
    private func command(_ site: Site, host: String, _ more: String..., log: URL) throws -> ChildProcess {
        let build = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let variables = [
            "HOME": log.deletingLastPathComponent().path, "FM_HOST": host, "FM_DATABASE": "World", "FM_USER": "admin",
            "FM_PASSWORD": "secret", "FM_FLEET_STORE": "unix://\(site.store.socket)",
        ]
        return try ChildProcess(
            build.appendingPathComponent("fmdata").path,
            ["watch", "Contacts", "--fields", "Name", "--every", "0.05"] + more,
            environment: ProcessInfo.processInfo.environment.merging(variables) { $1 },
            output: try FileHandle(forWritingTo: log),
            errors: try FileHandle(forWritingTo: log)
        )
    }

    private func status(of process: ChildProcess, after signal: Int32) async -> Int32 {
        kill(process.id, signal)
        return await withCheckedContinuation { continuation in
            // A thread of its own: waiting blocks, and the threads of tasks are few.
            Thread.detachNewThread { continuation.resume(returning: process.waitUntilExit()) }
        }
    }

    @Test func theCommandPublishesAndGoesOnAfterAKill() async throws {
        try await withTemporaryFolder { folder in
            let log = folder.appendingPathComponent("log")
            try await withSite { site in
                let host = site.contacts.layout.database.server.host
                let first = try command(site, host: host, "--stream", "c", log: log)
                let before = try await site.entries("complete", 1)
                let count = try await site.contacts.count().firstValue()
                expectNoDifference(before.count { $0.hasPrefix("record ") && $0.contains(#" {"Name":""#) }, count)
                expectNoDifference(awaited: await status(of: first, after: SIGKILL), 128 + SIGKILL)

                try await site.rename(2, "Emmy")
                // The lease of the killed one ends after 10 seconds; nobody else can lead before.
                _ = try await site.consumer.send { _ in RESPCommand("HDEL", "fm:{c}:publisher", "l", "u") }
                let next = try command(site, host: host, "--stream", "c", log: log)
                let after = try await site.entries("complete", 2)
                expectNoDifference(after.count, before.count + 2)
                #expect(after[before.count].hasSuffix(#"{"Name":"Emmy"}"#), "\(after)")
                expectEachVersionOnce(after)
                expectNoDifference(awaited: await status(of: next, after: SIGTERM), 128 + SIGTERM)
                expectNoDifference(try String(contentsOf: log, encoding: .utf8), "")
            }
        }
    }
}
