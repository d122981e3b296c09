import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMData

/// Live queries that share their polls through an exchange.
@Suite(.timeLimit(.minutes(15))) struct LiveExchangeTests {
    /// An exchange in memory: whoever asks first polls, until it rests.
    private final class Switchboard: Sendable {
        typealias Exchange = DataAPI.LiveExchange

        struct Feed {
            var leader: DataAPI.Member?
            var changes: [[UInt8]] = []
            var digest: String?
            /// How many of the changes each member has, and whom to tell of more.
            var members: [DataAPI.Member: (adopted: Int, request: Exchange.Request)] = [:]
            var hints = 0
            var rests = 0
            var ends = 0
            var polls = 0
        }

        private let feeds = NIOLockedValueBox<[String: Feed]>([:])
        /// Replaces each change on its way, if it is not `nil`.
        let forged = Locked<[UInt8]?>(nil)
        /// Whether what was found may be older than the last polls of those who adopt it.
        let isOld = Locked(false)

        func exchange(maximumBytes: Int) -> Exchange {
            Exchange(
                turn: { [self] request, mustPoll in turn(request, mustPoll) },
                polled: { [self] request, poll in polled(request, poll) },
                hinted: { [self] request in change(request) { $0.hints += 1 } },
                rested: { [self] request in
                    change(request) { feed in
                        feed.rests += 1
                        if feed.leader == request.member { feed.leader = nil }
                    }
                },
                left: { [self] request in change(request) { $0.ends += 1 } },
                maximumBytes: maximumBytes
            )
        }

        var feedCount: Int { feeds.withLockedValue(\.count) }
        /// The only feed.
        var feed: Feed { feeds.withLockedValue { $0.values.first } ?? Feed() }

        private func change<Result>(_ request: Exchange.Request, _ body: (inout Feed) -> Result) -> Result {
            feeds.withLockedValue { body(&$0[request.login + request.query, default: Feed()]) }
        }

        private func turn(_ request: Exchange.Request, _ mustPoll: Bool) -> Exchange.Turn {
            change(request) { feed in
                if feed.leader == nil { feed.leader = request.member }
                let adopted = feed.members[request.member]?.adopted ?? feed.changes.count
                feed.members[request.member] = (feed.changes.count, request)
                if mustPoll || feed.leader == request.member { return .poll(pace: 1) }
                let changes = feed.changes[adopted...].map { bytes in
                    Exchange.Changes(bytes: forged.value ?? bytes, mayBeOlder: isOld.value)
                }
                return .adopt(.init(changes: changes, digest: isOld.value ? nil : feed.digest))
            }
        }

        private func polled(_ request: Exchange.Request, _ poll: Exchange.Report) {
            let others = change(request) { feed -> [Exchange.Request] in
                feed.polls += 1
                guard feed.leader == request.member else { return [] }
                feed.digest = poll.digest
                guard let changes = poll.changes else { return [] }
                feed.changes.append(changes)
                return feed.members.filter { $0.key != request.member }.map(\.value.request)
            }
            for other in others { other.tell(.news) }
        }
    }

    /// A harbour with a second watching client, as if it were another process.
    private struct Two {
        let harbour: Harbour
        let board: Switchboard
        let other: DataAPI.Database

        var first: DataAPI.LiveQuery<Ship> { harbour.inOslo.live() }
        var second: DataAPI.LiveQuery<Ship> { other.layout(Ship.self).find { $0(.port) == "Oslo" }.live() }
    }

    private func run(
        maximumBytes: Int = 100_000,
        _ body: (Two) async throws -> Void
    ) async throws {
        let board = Switchboard()
        func configure(_ config: inout DataAPI.Config) {
            config.liveExchange = board.exchange(maximumBytes: maximumBytes)
        }
        try await Harbour.run(client: configure) { harbour in
            var config = DataAPI.Config.patient
            configure(&config)
            let server = DataAPI.Server(host: harbour.sandbox.url, config: config, clock: harbour.time)
            let other = server.addDatabase("Harbour", credentials: Credentials(user: "admin", password: ""))
            try await body(Two(harbour: harbour, board: board, other: other))
            _ = await other.logOut().awaitSingleResult()
        }
    }

    @Test func oneQueryPollsAndTheOtherAdoptsWhatItHasFound() async throws {
        try await run { two in
            let first = await two.harbour.watch(two.first)
            let second = await two.harbour.watch(two.second)
            expectNoDifference(two.harbour.requests, 2)
            expectNoDifference(second.values[0].ids, first.values[0].ids)
            let ids = first.values[0].ids
            let new = try await two.harbour.insert("Draken")
            try await two.harbour.edit(ids[1], ["Name": .text("Göta")])
            try await two.harbour.delete(ids[0])
            let before = two.harbour.requests
            await two.harbour.refresh(two.first)
            await second.valueCount(atLeast: 2)
            // The poll, and the question whether the missing record is deleted.
            expectNoDifference(two.harbour.requests, before + 1)
            let value = second.values[1]
            expectNoDifference(value.ids, [ids[1], ids[2], new])
            expectNoDifference(value.records.map(\.fieldData.name), ["Göta", "Fram", "Draken"])
            expectNoDifference(value.changes.inserted.map(\.recordId), [new])
            expectNoDifference(value.changes.updated.map(\.record.recordId), [ids[1]])
            expectNoDifference(value.changes.removed.map(\.reason), [.deleted])
            first.cancel()
            second.cancel()
        }
    }

    @Test func whoeverPollsNoMoreMakesRoomForAnother() async throws {
        try await run { two in
            let first = await two.harbour.watch(two.first)
            let second = await two.harbour.watch(two.second)
            first.cancel()
            await until { two.board.feed.leader == nil }
            _ = try await two.harbour.insert("Draken")
            await two.harbour.refresh(two.second)
            await second.valueCount(atLeast: 2)
            expectNoDifference(second.values[1].changes.inserted.map(\.fieldData.name), ["Draken"])
            #expect(two.board.feed.leader != nil)
            second.cancel()
        }
    }

    @Test func aHintAndAWriteReachWhoeverPolls() async throws {
        try await run { two in
            let second = await two.harbour.watch(two.second)
            two.other.changed(.init(database: "Harbour", table: nil, rowIDs: nil, isSchema: false, receivedAt: Date()))
            await until { two.board.feed.hints == 1 }
            _ = try await two.other.layout(Ship.self).create(Ship(name: "Draken", port: "Oslo")).firstValue()
            await until { two.board.feed.hints == 2 }
            // A login that is cancelled may leave a session that nobody knows of.
            await until { two.second.isAtRest }
            second.cancel()
        }
    }

    @Test func theTypesOfTheRecordsNeedNotBeEqual() async throws {
        try await run { two in
            let first = await two.harbour.watch(two.first)
            typealias Values = TrackingSubscriber<DataAPI.LiveValue<FieldData>, FMRest.APIError>
            let second = Values()
            let find = DataAPI.FindField(named: "Port") == "Oslo"
            DataAPI.FoundSet(layout: two.other.addLayout("Ships").of(FieldData.self), find: find)
                .live().subscribe(second)
            await second.valueCount(atLeast: 1)
            expectNoDifference(two.board.feedCount, 1)
            try await two.harbour.edit(first.values[0].ids[0], ["Name": .text("Göta")])
            await two.harbour.refresh(two.first)
            await second.valueCount(atLeast: 2)
            expectNoDifference(second.values[1].records[0].fieldData["Name"], .text("Göta"))
            first.cancel()
            second.cancel()
        }
    }

    @Test(arguments: [PolledChanges(kind: .poll).bytes, [], [1, 2, 3]])
    func whoeverCannotUseWhatItGetsPolls(bytes: [UInt8]) async throws {
        try await run { two in
            let first = await two.harbour.watch(two.first)
            let second = await two.harbour.watch(two.second)
            two.board.forged.change { $0 = bytes }
            let before = two.harbour.requests
            try await two.harbour.edit(first.values[0].ids[0], ["Name": .text("Göta")])
            await two.harbour.refresh(two.first)
            await second.valueCount(atLeast: 2)
            expectNoDifference(second.values[1].records.map(\.fieldData.name), ["Göta", "Embla", "Fram"])
            expectNoDifference(two.harbour.requests, before + 2)
            first.cancel()
            second.cancel()
        }
    }

    @Test func whoeverHasOtherRecordsThanTheOthersPolls() async throws {
        try await run { two in
            let first = await two.harbour.watch(two.first)
            let second = await two.harbour.watch(two.second)
            // A change that is left out on the way.
            two.board.forged.change { $0 = PolledChanges().bytes }
            try await two.harbour.edit(first.values[0].ids[0], ["Name": .text("Göta")])
            await two.harbour.refresh(two.first)
            await second.valueCount(atLeast: 2)
            expectNoDifference(second.values[1].records.map(\.fieldData.name), ["Göta", "Embla", "Fram"])
            first.cancel()
            second.cancel()
        }
    }

    @Test func aRecordOfAPollThatMayBeOlderIsThereWithTheNextDigestAndNobodyPollsForIt() async throws {
        try await run { two in
            let first = await two.harbour.watch(two.first)
            let second = await two.harbour.watch(two.second)
            let ids = first.values[0].ids
            let before = two.harbour.requests
            two.board.isOld.change { $0 = true }
            let new = try await two.harbour.insert("Draken")
            await two.harbour.refresh(two.first)
            // The second one has taken its turn.
            await until { two.board.feed.members.values.contains { $0.adopted == 1 } }
            two.board.isOld.change { $0 = false }
            try await two.harbour.edit(ids[0], ["Name": .text("Göta")])
            await two.harbour.refresh(two.first)
            await second.valueCount(atLeast: 2)
            expectNoDifference(second.values[1].ids, ids + [new])
            expectNoDifference(second.values[1].records.map(\.fieldData.name), ["Göta", "Embla", "Fram", "Draken"])
            expectNoDifference(two.harbour.requests, before + 2)
            first.cancel()
            second.cancel()
        }
    }

    @Test func anotherFileIsAResetForAll() async throws {
        try await run { two in
            let first = await two.harbour.watch(two.first)
            let second = await two.harbour.watch(two.second)
            two.board.forged.change { $0 = PolledChanges(kind: .reset).bytes }
            try await two.harbour.edit(first.values[0].ids[0], ["Name": .text("Göta")])
            await two.harbour.refresh(two.first)
            await second.valueCount(atLeast: 2)
            expectNoDifference(second.values[1].freshness.origin, .reset)
            expectNoDifference(first.values[1].freshness.origin, .refresh)
            first.cancel()
            second.cancel()
        }
    }

    @Test func aQueryWhosePollFailsRests() async throws {
        try await run { two in
            let first = await two.harbour.watch(two.first)
            let second = await two.harbour.watch(two.second)
            two.harbour.sandbox.inject(.error(FileMakerError(802)), on: .find, count: 1)
            two.first.refresh()
            await until { two.board.feed.rests == 1 }
            expectNoDifference(two.board.feed.leader, nil)
            // The other one leads, with its next poll.
            _ = try await two.harbour.insert("Draken")
            await two.harbour.refresh(two.second)
            await second.valueCount(atLeast: 2)
            #expect(two.board.feed.leader != nil)
            first.cancel()
            second.cancel()
        }
    }

    @Test func changesThatAreTooManyMakeAllPoll() async throws {
        try await run(maximumBytes: 100) { two in
            let first = await two.harbour.watch(two.first)
            let second = await two.harbour.watch(two.second)
            let before = two.harbour.requests
            _ = try await two.harbour.insert(String(repeating: "x", count: 200))
            await two.harbour.refresh(two.first)
            await second.valueCount(atLeast: 2)
            expectNoDifference(two.harbour.requests, before + 2)
            expectNoDifference(second.values[1].records.last?.fieldData.name.count, 200)
            first.cancel()
            second.cancel()
        }
    }

    @Test func aShutdownEndsAQueryThatOthersPollFor() async throws {
        try await run { two in
            let first = await two.harbour.watch(two.first)
            let second = await two.harbour.watch(two.second)
            _ = try await two.other.server.shutdown().firstValue()
            guard case .failure(let error) = await second.completion() else {
                Issue.record("it finished")
                return
            }
            expectNoDifference(error.code, .shutdown)
            first.cancel()
        }
    }

    @Test func pausesAreAsLongAsTheExchangeSays() async throws {
        let exchange = DataAPI.LiveExchange(
            turn: { _, _ in .poll(pace: 8) },
            polled: { _, _ in },
            hinted: { _ in },
            rested: { _ in },
            left: { _ in }
        )
        try await Harbour.run(client: { $0.liveExchange = exchange }) { harbour in
            let query = harbour.inOslo.live(.init(every: .seconds(5) ... .seconds(5), restFactor: 0))
            let values = await harbour.watch(query)
            let pause = query.timeToNextLook(at: harbour.time.date)
            #expect(pause >= .seconds(36) && pause <= .seconds(44))
            values.cancel()
        }
    }

    @Test func aQueryThatHasEndedLeaves() async throws {
        try await run { two in
            let values = await two.harbour.watch(two.first)
            values.cancel()
            await until { two.board.feed.rests == 1 }
            await two.harbour.untilNothingIsHeld()
            await until { two.board.feed.ends == 1 }
        }
    }

    @Test func someQueriesPollByThemselves() async throws {
        try await run { two in
            let queries = [
                two.harbour.inOslo.live(.init(related: .reread(every: 2))),
                two.harbour.inOslo.scripts(.init(script: "no JSON")).live(),
            ]
            for query in queries { await two.harbour.watch(query).cancel() }
            expectNoDifference(two.board.feedCount, 0)
        }
    }

    @Test func differentQueriesAndLoginsShareNothing() async throws {
        try await run { two in
            let queries = [
                two.first, two.harbour.ships.live(), two.harbour.inOslo.sorted(by: .name).live(),
                two.harbour.ships.find { $0(.port) == "Rome" }.live(), two.harbour.inOslo.live(.init(watch: .reread)),
                two.harbour.inOslo.responseLayout("Ships (ids)").live(),
            ]
            var values: [Harbour.Values] = []
            for query in queries {
                let watching = Harbour.Values()
                query.subscribe(watching)
                values.append(watching)
            }
            await until { two.board.feedCount == queries.count }
            for watching in values { watching.cancel() }
        }
    }

    // MARK: The gate

    @Test func aPollWaitsForItsTurnAtTheGate() async throws {
        let asked = Locked<[CheckedContinuation<Void, Never>]>([])
        let hosts = Locked<[String]>([])
        let gate = DataAPI.PollGate { host in
            hosts.change { $0.append(host) }
            await withCheckedContinuation { turn in asked.change { $0.append(turn) } }
        }
        try await Harbour.run(client: { $0.pollGate = gate }) { harbour in
            let values = Harbour.Values()
            let query = harbour.inOslo.live()
            query.subscribe(values)
            await until { asked.value.count == 1 }
            expectNoDifference(query.statusNow.kind, .throttled)
            expectNoDifference(harbour.requests, 0)
            expectNoDifference(hosts.value, [harbour.sandbox.url])
            asked.value[0].resume()
            await values.valueCount(atLeast: 1)
            values.cancel()
        }
    }

    @Test func aGateThatFailsStopsNobody() async throws {
        try await Harbour.run(client: { $0.pollGate = .init { _ in throw CancellationError() } }) { harbour in
            let values = await harbour.watch(harbour.inOslo.live())
            values.cancel()
        }
    }
}
