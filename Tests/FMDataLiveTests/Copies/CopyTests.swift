import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// Copies that a program stores: with each poll strategy, over any number of records, and after any interruption.
@Suite(.timeLimit(.minutes(10))) struct CopyTests {
    /// Writes through the Data API do not show in the log, so with the log all ids are compared each time.
    private static let ways: [DataAPI.LiveOptions] = [
        DataAPI.LiveOptions(), DataAPI.LiveOptions(watch: .reread), DataAPI.LiveOptions(watch: .scan("Ships (ids)")),
        DataAPI.LiveOptions(watch: .scan("Ships (ids)", key: "Name")),
        DataAPI.LiveOptions(watch: .stamp("Changed", scan: "Ships (ids)")),
        DataAPI.LiveOptions(watch: .log("Log", serial: "Serial", reconcile: 1)),
    ]

    private static func run(
        ships count: Int,
        _ body: (Harbour, CopyTable) async throws -> Void
    ) async throws {
        try await Harbour.run((1...count).map { "Ship\($0)" }) { try await body($0, CopyTable()) }
    }

    // MARK: Events

    @Test(.thorough, arguments: ways) func aCopyFollowsItsTable(options: DataAPI.LiveOptions) async throws {
        try await Self.run(ships: 600) { harbour, copy in
            let changes = harbour.ships.changes(keptBy: copy.keeper, options: options)
            let following = copy.follow(changes)
            await copy.polls(1)
            expectNoDifference(copy.names, harbour.names)
            await until { changes.isAtRest }

            try await harbour.edit(17, ["Name": "Draken"])
            try await harbour.delete(18)
            _ = try await harbour.insert("Skibladner")
            changes.refresh()
            await copy.polls(2)
            expectNoDifference(copy.names, harbour.names)
            following.cancel()
        }
    }

    /// Of a thousand records the second run reads only those that have changed, and asks for the one that was deleted
    /// meanwhile.
    @Test(.thorough, arguments: ways)
    func anotherRunReadsWhatHasChangedAlone(options: DataAPI.LiveOptions) async throws {
        try await Self.run(ships: 1_000) { harbour, copy in
            let first = copy.follow(harbour.ships.changes(keptBy: copy.keeper, options: options))
            await copy.polls(1)
            first.cancel()

            try await harbour.edit(17, ["Name": "Draken"])
            try await harbour.delete(18)
            _ = try await harbour.insert("Skibladner")
            let before = copy.state
            let second = copy.follow(harbour.ships.changes(keptBy: copy.keeper, options: options))
            await copy.polls(2)
            expectNoDifference(copy.names, harbour.names)
            expectNoDifference(copy.state.resets, [])
            // Records, deleted records, and the mark.
            #expect(copy.state.count - before.count <= 4)
            second.cancel()
        }
    }

    @Test func aQuietRunAsksForStampsAndForTheLastRecords() async throws {
        try await Self.run(ships: 1_200) { harbour, copy in
            for id in 1...60 { try await harbour.edit(id, ["Port": "Bergen"]) }
            let options = DataAPI.LiveOptions(watch: .stamp("Changed", scan: "Ships (ids)"))
            let first = copy.follow(harbour.ships.changes(keptBy: copy.keeper, options: options))
            await copy.polls(1)
            first.cancel()
            let before = harbour.sandbox.counters.requests
            let second = copy.follow(harbour.ships.changes(keptBy: copy.keeper, options: options))
            await copy.polls(2)
            let after = harbour.sandbox.counters.requests
            expectNoDifference(after[.find, default: 0] - before[.find, default: 0], 1)
            expectNoDifference(after[.getRecord, default: 0] - before[.getRecord, default: 0], 1)
            expectNoDifference(after[.getRecords], before[.getRecords])
            second.cancel()
        }
    }

    @Test func aRecordThatCannotBeDecodedIsToldOnceAndTheOthersGoOn() async throws {
        try await Self.run(ships: 3) { harbour, _ in
            struct Berthed: LayoutRecord {
                static let layout = "Ships"
                var berth: Int
                enum CodingKeys: String, CodingKey { case berth = "Port" }
            }
            for id in [1, 3] { try await harbour.edit(id, ["Port": "\(id)"]) }
            let keeper = DataAPI.CopyKeeper(
                mark: { done in done(.success(nil)) },
                versions: { _, _, done in done(.success([])) }
            )
            let changes = harbour.database.layout(Berthed.self).changes(keptBy: keeper)
            let events = TrackingSubscriber<DataAPI.CopyEvent<Berthed>, FMRest.APIError>()
            changes.subscribe(events)
            await events.valueCount(atLeast: 3)
            await until { changes.isAtRest }
            changes.refresh()
            await events.valueCount(atLeast: 4)
            guard case .unreadable(let bad) = events.values[0], case .records(let good) = events.values[1],
                case .polled = events.values[2], case .polled = events.values[3]
            else {
                Issue.record("\(events.values)")
                return
            }
            expectNoDifference(bad.map(\.recordId), [2])
            expectNoDifference(good.map(\.recordId), [1, 3])
            events.cancel()
        }
    }

    // MARK: Interruptions

    /// The run is ended after each event of its first poll. The next one never reads a page that the copy already has.
    @Test func aFirstLookThatIsInterruptedGoesOn() async throws {
        try await Self.run(ships: 1_000) { harbour, copy in
            let options = DataAPI.LiveOptions(watch: .scan("Ships (ids)"))
            var runs = 0
            while copy.state.polls == 0, runs < 100 {
                runs += 1
                let before = copy.state
                let events = TrackingSubscriber<DataAPI.CopyEvent<Ship>, FMRest.APIError>(
                    initialDemand: .max(1),
                    onEvent: { if case .value(let event) = $0 { copy.carryOut(event) } }
                )
                harbour.ships.changes(keptBy: copy.keeper, options: options).subscribe(events)
                await until { copy.state.count > before.count }
                #expect(copy.ids.count > before.ships.count || copy.state.polls > 0)
                events.cancel()
            }
            expectNoDifference(copy.names, harbour.names)
            #expect(runs > 2)
            expectNoDifference(copy.state.resets, [])
        }
    }

    @Test(.thorough, arguments: ways)
    func aLostAnswerInTheMiddleCostsNothingThatTheCopyHas(options: DataAPI.LiveOptions) async throws {
        try await Self.run(ships: 1_000) { harbour, copy in
            harbour.sandbox.inject(.html(status: 502), on: .getRecords, skipping: 3)
            let changes = harbour.ships.changes(keptBy: copy.keeper, options: options)
            let following = copy.follow(changes)
            await until {
                harbour.passTimeToNextPoll(of: changes)
                return copy.state.polls > 0
            }
            expectNoDifference(copy.names, harbour.names)
            following.cancel()
        }
    }

    /// A single false answer must not remove records from a copy.
    @Test(.thorough, arguments: [401, 101], ways)
    func aFalseFirstAnswerRemovesNothing(code: Int, options: DataAPI.LiveOptions) async throws {
        try await Self.run(ships: 40) { harbour, copy in
            let first = copy.follow(harbour.ships.changes(keptBy: copy.keeper, options: options))
            await copy.polls(1)
            first.cancel()
            try await harbour.delete(2)
            harbour.sandbox.inject(.error(FileMakerError(code)), on: .getRecords)
            harbour.sandbox.inject(.error(FileMakerError(code)), on: .find)
            let changes = harbour.ships.changes(keptBy: copy.keeper, options: options)
            let second = copy.follow(changes)
            await until {
                harbour.passTimeToNextPoll(of: changes)
                return copy.state.polls > 1
            }
            expectNoDifference(copy.names, harbour.names)
            expectNoDifference(copy.state.resets, [])
            second.cancel()
        }
    }

    // MARK: Other files, queries and accounts

    /// The restored backup assigns a record's id again, in an equal version.
    @Test(arguments: ways) func aRestoredBackupIsAReset(options: DataAPI.LiveOptions) async throws {
        try await Self.run(ships: 30) { harbour, copy in
            _ = try await harbour.insert("Draken")
            let first = copy.follow(harbour.ships.changes(keptBy: copy.keeper, options: options))
            await copy.polls(1)
            first.cancel()
            harbour.sandbox.reset()
            _ = try await harbour.insert("Skibladner", port: "Bergen")
            let second = copy.follow(harbour.ships.changes(keptBy: copy.keeper, options: options))
            await copy.polls(2)
            expectNoDifference(copy.state.resets, [.otherFile])
            expectNoDifference(copy.names, harbour.names)
            second.cancel()
        }
    }

    /// No poll fails, and no record is older. The signs are that the host requires another login, and that one name has
    /// changed.
    @Test(arguments: ways) func aBackupRestoredWhileItRunsIsAReset(options: DataAPI.LiveOptions) async throws {
        try await Self.run(ships: 30) { harbour, copy in
            _ = try await harbour.insert("Draken")
            let changes = harbour.ships.changes(keptBy: copy.keeper, options: options)
            let following = copy.follow(changes)
            await copy.polls(1)
            await until { changes.isAtRest }
            harbour.sandbox.reset()
            _ = try await harbour.insert("Skibladner")
            changes.refresh()
            await copy.polls(2)
            expectNoDifference(copy.state.resets, [.otherFile])
            expectNoDifference(copy.names, harbour.names)
            following.cancel()
        }
    }

    /// Of thirty new records the backup has none, and twelve ids are given again: the newest known records are not
    /// there.
    @Test(arguments: ways, [false, true]) func aBackupWithFewerRecordsIsAReset(
        options: DataAPI.LiveOptions,
        whileItRuns: Bool
    ) async throws {
        try await Self.run(ships: 3) { harbour, copy in
            for number in 1...30 { _ = try await harbour.insert("Old\(number)") }
            var changes = harbour.ships.changes(keptBy: copy.keeper, options: options)
            var following = copy.follow(changes)
            await copy.polls(1)
            await until { changes.isAtRest }
            if !whileItRuns { following.cancel() }
            harbour.sandbox.reset()
            for number in 1...12 { _ = try await harbour.insert("New\(number)") }
            if whileItRuns {
                changes.refresh()
            } else {
                changes = harbour.ships.changes(keptBy: copy.keeper, options: options)
                following = copy.follow(changes)
            }
            await copy.polls(2)
            expectNoDifference(copy.state.resets, [.otherFile])
            expectNoDifference(copy.names, harbour.names)
            following.cancel()
        }
    }

    /// The sampled records were deleted before; others were sampled instead.
    @Test(arguments: ways) func aBackupAfterTheNewestRecordsWereDeletedIsAReset(
        options: DataAPI.LiveOptions
    ) async throws {
        try await Self.run(ships: 30) { harbour, copy in
            for number in 1...30 { _ = try await harbour.insert("Old\(number)") }
            let changes = harbour.ships.changes(keptBy: copy.keeper, options: options)
            let following = copy.follow(changes)
            await copy.polls(1)
            await until { changes.isAtRest }
            for id in 51...60 { try await harbour.delete(id) }
            changes.refresh()
            await copy.polls(2)
            await until { changes.isAtRest }
            expectNoDifference(copy.ids, Array(1...50))
            harbour.sandbox.reset()
            for number in 1...18 { _ = try await harbour.insert("New\(number)") }
            changes.refresh()
            await copy.polls(3)
            expectNoDifference(copy.state.resets, [.otherFile])
            expectNoDifference(copy.names, harbour.names)
            following.cancel()
        }
    }

    /// Records that are gone prove nothing about a copy that has no others.
    @Test func aSmallCopyWhoseRecordsAreAllDeletedIsNoOtherFile() async throws {
        try await Self.run(ships: 10) { harbour, copy in
            let first = copy.follow(harbour.ships.changes(keptBy: copy.keeper))
            await copy.polls(1)
            first.cancel()
            for id in 1...10 { try await harbour.delete(id) }
            let second = copy.follow(harbour.ships.changes(keptBy: copy.keeper))
            await copy.polls(2)
            expectNoDifference(copy.state.resets, [])
            expectNoDifference(copy.ids, [])
            second.cancel()
        }
    }

    @Test func anOlderVersionWhileItRunsIsAReset() async throws {
        try await Self.run(ships: 30) { harbour, copy in
            try await harbour.edit(7, ["Name": "Draken"])
            let changes = harbour.ships.changes(keptBy: copy.keeper)
            let following = copy.follow(changes)
            await copy.polls(1)
            await until { changes.isAtRest }
            harbour.sandbox.reset()
            changes.refresh()
            await copy.polls(2)
            expectNoDifference(copy.state.resets, [.otherFile])
            expectNoDifference(copy.names, harbour.names)
            following.cancel()
        }
    }

    @Test func anotherQueryIsAReset() async throws {
        try await Self.run(ships: 5) { harbour, copy in
            let first = copy.follow(harbour.ships.changes(keptBy: copy.keeper))
            await copy.polls(1)
            first.cancel()
            try await harbour.edit(1, ["Port": "Bergen"])
            let second = copy.follow(harbour.inOslo.changes(keptBy: copy.keeper))
            await copy.polls(2)
            expectNoDifference(copy.state.resets, [.otherQuery])
            expectNoDifference(copy.ids, [2, 3, 4, 5])
            second.cancel()
        }
    }

    @Test func anotherAccountIsAReset() async throws {
        try await Self.run(ships: 5) { harbour, copy in
            let changes = harbour.ships.changes(keptBy: copy.keeper)
            let following = copy.follow(changes)
            await copy.polls(1)
            await until { changes.isAtRest }
            harbour.database.replaceCredentials(Credentials(user: "someone", password: "else"))
            await until { !copy.state.resets.isEmpty }
            expectNoDifference(copy.state.resets, [.otherAccount])
            expectNoDifference(copy.ids, [])
            following.cancel()
        }
    }

    /// The keeper's answer belongs to the previous account then.
    @Test func anAccountThatIsReplacedWhileTheKeeperIsAskedIsAReset() async throws {
        try await Self.run(ships: 5) { harbour, copy in
            let first = copy.follow(harbour.ships.changes(keptBy: copy.keeper))
            await copy.polls(1)
            first.cancel()
            let answers = NIOLockedValueBox<[@Sendable () -> Void]>([])
            let keeper = copy.keeper
            let slow = DataAPI.CopyKeeper(
                mark: { done in answers.withLockedValue { $0.append { keeper.mark(done) } } },
                versions: keeper.versions
            )
            let second = copy.follow(harbour.ships.changes(keptBy: slow))
            await until { answers.withLockedValue { !$0.isEmpty } }
            harbour.database.replaceCredentials(Credentials(user: "someone", password: "else"))
            await until { !copy.state.resets.isEmpty }
            for answer in answers.withLockedValue({ $0 }) { answer() }
            expectNoDifference(copy.state.resets, [.otherAccount])
            expectNoDifference(copy.ids, [])
            second.cancel()
        }
    }

    // MARK: The contract

    @Test func aKeeperThatDoesNotAnswerIsWaitedForAndCanBeLeft() async throws {
        try await Self.run(ships: 3) { harbour, _ in
            let silent = DataAPI.CopyKeeper(mark: { _ in }, versions: { _, _, _ in })
            let changes = harbour.ships.changes(keptBy: silent)
            let events = TrackingSubscriber<DataAPI.CopyEvent<Ship>, FMRest.APIError>()
            changes.subscribe(events)
            await until { changes.statusNow.kind == .polling }
            expectNoDifference(changes.statusNow.awaited, .keeper)
            await settled { harbour.requests }
            expectNoDifference(harbour.requests, 0)
            events.cancel()
            await harbour.untilNothingIsHeld()
        }
    }

    /// As with a lock that both processes take in `mark`: the second one reads the copy when the first has ended.
    @Test func aProcessThatWaitsForAnotherSeesWhatThatOneHasStored() async throws {
        try await Self.run(ships: 3) { harbour, copy in
            let waiting = NIOLockedValueBox<[@Sendable () -> Void]>([])
            let keeper = copy.keeper
            let second = DataAPI.CopyKeeper(
                mark: { done in waiting.withLockedValue { $0.append { keeper.mark(done) } } },
                versions: keeper.versions
            )
            let following = copy.follow(harbour.ships.changes(keptBy: keeper))
            let other = copy.follow(harbour.ships.changes(keptBy: second))
            await copy.polls(1)
            let id = try await harbour.insert("Draken")
            // The first process stores it, and is killed before it has stored the mark.
            following.cancel()
            copy.change {
                $0.ships[id] = Ship(name: "Draken", port: "Oslo")
                $0.modIds[id] = 0
            }
            try await harbour.delete(id)
            await until { waiting.withLockedValue { !$0.isEmpty } }
            for answer in waiting.withLockedValue({ $0 }) { answer() }
            await copy.polls(2)
            expectNoDifference(copy.names, harbour.names)
            other.cancel()
        }
    }

    @Test func nothingIsAskedForBeforeDemandAndNoPageBeforeTheLastWasTaken() async throws {
        try await Self.run(ships: 1_000) { harbour, copy in
            let changes = harbour.ships.changes(keptBy: copy.keeper)
            let events = TrackingSubscriber<DataAPI.CopyEvent<Ship>, FMRest.APIError>(initialDemand: .none)
            changes.subscribe(events)
            await settled { harbour.requests }
            expectNoDifference(harbour.requests, 0)
            events.request(.max(1))
            await events.valueCount(atLeast: 1)
            // Only the page after the one that waits for demand is read ahead.
            await settled { harbour.requests }
            #expect(harbour.requests <= 3)
            events.cancel()
        }
    }

    @Test func aSecondSubscriberIsRefused() async throws {
        try await Self.run(ships: 3) { harbour, copy in
            let changes = harbour.ships.changes(keptBy: copy.keeper)
            let first = copy.follow(changes)
            await copy.polls(1)
            let second = TrackingSubscriber<DataAPI.CopyEvent<Ship>, FMRest.APIError>()
            changes.subscribe(second)
            guard case .failure(let error) = await second.completion() else { return }
            expectNoDifference(error.code, .invalidRequest)
            first.cancel()
            // A subscriber is accepted again after the first one has cancelled.
            let third = copy.follow(changes)
            await copy.polls(2)
            third.cancel()
        }
    }

    @Test func aKeeperThatFailsEndsIt() async throws {
        struct Locked: Error {}
        try await Self.run(ships: 3) { harbour, copy in
            copy.change { $0.failure = Locked() }
            let events = TrackingSubscriber<DataAPI.CopyEvent<Ship>, FMRest.APIError>()
            harbour.ships.changes(keptBy: copy.keeper).subscribe(events)
            guard case .failure(let error) = await events.completion() else { return }
            expectNoDifference(error.code, .keeper)
            #expect(error.underlying is Locked)
            expectNoDifference(harbour.requests, 0)
        }
    }

    @Test func versionsThatDoNotRiseEndIt() async throws {
        try await Self.run(ships: 3) { harbour, _ in
            let keeper = DataAPI.CopyKeeper(
                mark: { done in done(.success(nil)) },
                versions: { _, _, done in
                    done(.success([2, 1].map { DataAPI.RecordVersion(recordId: $0, modId: 0) }))
                }
            )
            let events = TrackingSubscriber<DataAPI.CopyEvent<Ship>, FMRest.APIError>()
            harbour.ships.changes(keptBy: keeper).subscribe(events)
            guard case .failure(let error) = await events.completion() else { return }
            expectNoDifference(error.code, .keeper)
        }
    }

    @Test func theMarkHoldsNothingOfWhatTheRecordsHold() async throws {
        try await Self.run(ships: 3) { harbour, copy in
            let following = copy.follow(harbour.inOslo.changes(keptBy: copy.keeper))
            await copy.polls(1)
            let text = String(decoding: copy.state.mark ?? Data(), as: UTF8.self)
            for secret in ["Oslo", "Ship1", "admin"] { #expect(!text.contains(secret)) }
            following.cancel()
        }
    }

    // MARK: Versions

    @Test func versionsAreHeldByTheirIds() {
        var versions = CopyVersions()
        versions.insert([(3, 0), (7, 1), (5, 2), (5, 3)].map { DataAPI.RecordVersion(recordId: $0.0, modId: $0.1) })
        versions.insert([(4, 4), (9, 5), (7, 6)].map { DataAPI.RecordVersion(recordId: $0.0, modId: $0.1) })
        expectNoDifference((2...10).map { versions.modId(of: $0) }, [nil, 0, 4, 3, nil, 6, nil, 5, nil])
        expectNoDifference(versions.missing(in: [9, 3, 8, 5]), [4, 7])
        versions.remove([3, 9])
        expectNoDifference(versions.count, 3)
        expectNoDifference(versions.missing(in: []), [4, 5, 7])
    }
}

extension Harbour {
    /// The names of all ships on the host.
    fileprivate var names: [String] {
        (sandbox.records(ofTable: "Ships", inDatabase: "Harbour") ?? []).map { $0.values["Name"] ?? "" }
    }
}
