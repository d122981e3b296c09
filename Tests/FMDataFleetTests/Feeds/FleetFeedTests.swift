import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataFleet

/// Live queries of several members, as if each were a process, that share their polls through a real store.
@Suite(.needsStore, .timeLimit(.minutes(10)))
struct FleetFeedTests {
    /// A member that watches the contacts.
    private final class Watcher: Sendable {
        let member: TestFleet
        private let last = Locked<[String: String]>([:])
        private let resets = Locked(0)
        private let values = Locked(0)
        private let task: Task<Void, any Error>

        /// - Parameter pause: between polls; for one that leads.
        init(_ member: TestFleet, pause: Duration = .seconds(3600)) {
            self.member = member
            let query = member.contacts.live(.init(every: pause...pause, restFactor: 0), isolation: nil)
            task = Task { [last, resets, values] in
                for try await value in query.values {
                    if value.freshness.origin == .reset { resets.change { $0 += 1 } }
                    let names = value.records.map { ("\($0.recordId)", $0.fieldData["Name"]?.description ?? "") }
                    last.change { $0 = Dictionary(names) { $1 } }
                    values.change { $0 += 1 }
                }
            }
        }

        /// The names by their ids.
        var names: [String: String] { last.value }
        var resetCount: Int { resets.value }
        var hasValue: Bool { values.value > 0 }
        func cancel() { task.cancel() }
    }

    /// A host, and a client of it that is in no fleet.
    private struct Table {
        let store: StoreServer
        let host: Sandbox
        let editor: DataAPI.TypedLayout<FieldData>

        func member(
            _ sealer: Sealer = .plain,
            through proxy: StoreProxy? = nil,
            times: StoreClient.Times = .ofTests()
        ) -> TestFleet { TestFleet(store: store, host: host, slots: 4, through: proxy, times: times, sealer: sealer) }

        /// Members, of which the first leads and polls after each pause.
        func watchers(_ count: Int, pause: Duration = .milliseconds(2)) async -> [Watcher] {
            let first = Watcher(member(), pause: pause)
            await until { first.hasValue && first.member.core.counters.polls > 0 }
            let others = (1..<count).map { _ in Watcher(member()) }
            await until { others.allSatisfy(\.hasValue) }
            return [first] + others
        }

        func edit(_ id: Int, _ name: String) async throws {
            _ = try await editor.edit(id, setting: ["Name": .text(name)]).firstValue()
        }

        /// The names by their ids, as the host has them.
        func names() async throws -> [String: String] {
            let records = try await editor.layout.getRecords().returnAs(FieldData.self).firstValue().data
            return Dictionary(
                records.map { ("\($0.recordId)", $0.fieldData["Name"]?.description ?? "") }
            ) { $1 }
        }

        /// Waits until all have what the host has.
        func untilEqual(_ watchers: [Watcher]) async throws {
            let names = try await names()
            await until { watchers.allSatisfy { $0.names == names } }
        }
    }

    private func run(_ body: (Table) async throws -> Void) async throws {
        try await StoreServer.run { store in
            var configuration = Sandbox.Configuration.patient
            configuration.maximumSessions = 30
            let host = try await Sandbox.start([.sample], configuration: configuration)
            let database = DataAPI.Server(host: host.url, config: .patient).addDatabase(
                "World",
                credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            try await body(Table(store: store, host: host, editor: database.addLayout("Contacts").of(FieldData.self)))
            _ = try await database.server.shutdown().firstValue()
            await host.stop()
        }
    }

    private func end(_ watchers: [Watcher]) async throws {
        for watcher in watchers {
            watcher.cancel()
            try await watcher.member.shutdown()
        }
    }

    // MARK: While all is well

    @Test(.thorough) func eightMembersPollAsOneDoes() async throws {
        try await run { table in
            let watchers = await table.watchers(8)
            let ids = watchers[0].names.keys.compactMap { Int($0) }.sorted()
            for number in 0..<1000 {
                // The table stays below a hundred records, which are one page.
                switch number % 25 {
                case 0: _ = try await table.editor.create(["Name": .text("new \(number)")]).firstValue()
                default: try await table.edit(ids[number % ids.count], "edit \(number)")
                }
            }
            try await table.untilEqual(watchers)
            // Each poll is one request; one question was the test's.
            let all = table.host.counters.requests[.getRecords, default: 0] - 1
            let polls = watchers[0].member.core.counters.polls
            // Each of the others polls once. One may be under way.
            #expect(all - polls <= 7 + 1, "\(all) requests, \(polls) polls by the leader")
            for watcher in watchers.dropFirst() {
                expectNoDifference(watcher.member.core.counters.polls, 0)
                #expect(watcher.member.core.counters.adoptedPolls > 0)
                expectNoDifference(watcher.resetCount, 0)
            }
            try await end(watchers)
        }
    }

    @Test(.thorough) func deletionsAndArrivalsReachAll() async throws {
        try await run { table in
            let watchers = await table.watchers(3)
            var ids = watchers[0].names.keys.compactMap { Int($0) }.sorted()
            for number in 0..<20 {
                if number % 4 == 0 { _ = try await table.editor.delete(ids.removeFirst()).firstValue() }
                ids.append(try await table.editor.create(["Name": .text("new \(number)")]).firstValue().recordId)
                try await table.untilEqual(watchers)
            }
            try await end(watchers)
        }
    }

    @Test func aWriteOfAMemberIsSeenByAllAfterOnePoll() async throws {
        try await run { table in
            // Nobody polls by itself.
            let watchers = await table.watchers(3, pause: .seconds(3600))
            let id = try #require(watchers[0].names.keys.compactMap { Int($0) }.min())
            _ = try await watchers[2].member.contacts.edit(id, setting: ["Name": .text("by a member")]).firstValue()
            try await table.untilEqual(watchers)
            expectNoDifference(watchers[1].names["\(id)"], "by a member")
            expectNoDifference(watchers[2].member.core.counters.polls, 0)
            try await end(watchers)
        }
    }

    @Test func noValueLiesInTheStoreInTheClear() async throws {
        try await run { table in
            let sealer = Sealer(
                seal: { content, _ in content.map { $0 ^ 0x55 } },
                open: { sealed, _ in sealed.map { $0 ^ 0x55 } }
            )
            let first = Watcher(table.member(sealer), pause: .milliseconds(2))
            await until { first.hasValue && first.member.core.counters.polls > 0 }
            let second = Watcher(table.member(sealer))
            await until { second.hasValue }
            let id = try #require(first.names.keys.compactMap { Int($0) }.min())
            try await table.edit(id, "canary")
            try await table.untilEqual([first, second])
            let text = try await StoredFeed(in: table.store).everything()
            #expect(!text.isEmpty && !text.contains("canary") && !text.contains("Name"))
            try await end([first, second])
        }
    }

    @Test func whoeverCannotOpenWhatOthersHaveFoundPolls() async throws {
        try await run { table in
            let first = Watcher(table.member(), pause: .milliseconds(2))
            await until { first.hasValue && first.member.core.counters.polls > 0 }
            let stranger = Sealer(seal: { content, _ in content }, open: { _, _ in nil })
            let second = Watcher(table.member(stranger))
            await until { second.hasValue }
            let id = try #require(first.names.keys.compactMap { Int($0) }.min())
            try await table.edit(id, "sealed")
            try await table.untilEqual([first, second])
            #expect(second.member.core.counters.unreadableChanges > 0)
            try await end([first, second])
        }
    }

    // MARK: Deaths

    @Test func aDeadLeaderIsFollowedByAnother() async throws {
        try await run { table in
            let proxy = try await StoreProxy.start(before: table.store)
            let dead = Watcher(table.member(through: proxy))
            await until { dead.hasValue && dead.member.core.counters.polls > 0 }
            let heirs = (1...3).map { _ in Watcher(table.member()) }
            await until { heirs.allSatisfy(\.hasValue) }
            let feed = StoredFeed(in: table.store)
            let leader = try await feed.leader()
            // It says nothing more, as if it had been killed.
            proxy.behave(.blackHole)
            let id = try #require(dead.names.keys.compactMap { Int($0) }.min())
            try await table.edit(id, "after its death")
            try await feed.endLease()
            try await table.untilEqual(heirs)
            #expect(try await feed.leader() != leader)
            expectNoDifference(heirs.map(\.member.core.counters.leads).reduce(0, +), 1)
            proxy.behave(.pass)
            proxy.cut()
            try await table.untilEqual([dead])
            try await end(heirs + [dead])
            await proxy.stop()
        }
    }

    @Test func aLeaderThatIsShutDownIsFollowedAtOnce() async throws {
        try await run { table in
            let watchers = await table.watchers(3, pause: .seconds(3600))
            let id = try #require(watchers[0].names.keys.compactMap { Int($0) }.min())
            try await end([watchers[0]])
            try await table.edit(id, "after its end")
            let heirs = Array(watchers.dropFirst())
            await until { heirs.contains { $0.member.core.counters.leads > 0 } }
            heirs[0].member.database.changed(
                .init(database: "World", table: nil, rowIDs: nil, isSchema: false, receivedAt: .init())
            )
            try await table.untilEqual(heirs)
            try await end(heirs)
        }
    }

    @Test func whoeverSleptPastItsLeaseAddsNothingAndFollows() async throws {
        try await run { table in
            let watchers = await table.watchers(3, pause: .seconds(3600))
            let feed = StoredFeed(in: table.store)
            let sleeper = watchers[0]
            // Another one leads by now, and the sleeper knows nothing of it.
            try await feed.endLease()
            await until { watchers.dropFirst().contains { $0.member.core.counters.leads > 0 } }
            let id = try #require(sleeper.names.keys.compactMap { Int($0) }.min())
            try await table.edit(id, "while it slept")
            sleeper.member.database.changed(
                .init(database: "World", table: nil, rowIDs: nil, isSchema: false, receivedAt: .init())
            )
            await until { sleeper.member.core.counters.latePolls == 1 }
            try await table.edit(id, "when it was awake")
            watchers[1].member.database.changed(
                .init(database: "World", table: nil, rowIDs: nil, isSchema: false, receivedAt: .init())
            )
            try await table.untilEqual(watchers)
            try await end(watchers)
        }
    }

    // MARK: The store goes away

    @Test(.thorough) func withoutAStoreEverybodyPollsAndItsReturnIsNoReset() async throws {
        try await run { table in
            let times = StoreClient.Times.ofTests(connection: .milliseconds(50))
            let watchers = (0..<3).map { _ in Watcher(table.member(times: times), pause: .milliseconds(20)) }
            await until { watchers.allSatisfy(\.hasValue) }
            let id = try #require(watchers[0].names.keys.compactMap { Int($0) }.min())
            let leads = watchers.reduce(0) { $0 + $1.member.core.counters.leads }
            table.store.kill()
            try await table.edit(id, "without a store")
            try await table.untilEqual(watchers)
            try await table.store.start()
            await until { watchers.reduce(0) { $0 + $1.member.core.counters.leads } > leads }
            try await table.edit(id, "with a store")
            try await table.untilEqual(watchers)
            for watcher in watchers { expectNoDifference(watcher.resetCount, 0) }
            try await end(watchers)
        }
    }
}

extension TestFleet {
    var contacts: DataAPI.TypedLayout<FieldData> { database.addLayout("Contacts").of(FieldData.self) }
}
