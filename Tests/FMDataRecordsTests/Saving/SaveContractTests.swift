import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// The contract of every publisher, for those that save.
@Suite(.timeLimit(.minutes(15))) struct SaveContractTests {
    private typealias Saved = TrackingSubscriber<DataAPI.Saved<PlainContact>, FMRest.APIError>

    private func changed(_ people: DataAPI.TypedLayout<PlainContact>) async throws -> DataAPI.Draft<PlainContact> {
        var draft = try await people.record(id: 1).firstValue().draft()
        draft.city = "Paris"
        return draft
    }

    @Test func nothingHappensBeforeDemand() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let draft = try await changed(people)
            let before = world.sandbox.counters.requests
            let calls = Locked(0)
            let edit = people.update(1) { _ in calls.change { $0 += 1 } }
            let publishers = [people.save(draft), people.save(draft, onConflict: .mine), edit]
            for publisher in publishers {
                let subscriber = Saved(initialDemand: .none)
                publisher.subscribe(subscriber)
                subscriber.cancel()
                subscriber.request(.unlimited)
                expectNoDifference(subscriber.values.count, 0)
            }
            let upsert = TrackingSubscriber<DataAPI.Upserted<PlainContact>, FMRest.APIError>(initialDemand: .none)
            people.upsert(draft.fields, by: .name).subscribe(upsert)
            upsert.cancel()
            await settled { world.sandbox.counters.requests }
            expectNoDifference(world.sandbox.counters.requests, before)
            expectNoDifference(calls.value, 0)
        }
    }

    @Test func oneValueForAnyDemandAndEachSubscriptionSavesOnce() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let save = people.save(try await changed(people), onConflict: .mine)
            let first = Saved(initialDemand: .max(1))
            save.subscribe(first)
            first.request(.max(3))
            #expect(await first.completion().isFinished)
            expectNoDifference(first.values.map(\.modId), [1])
            let second = Saved()
            save.subscribe(second)
            #expect(await second.completion().isFinished)
            // The first save has written it already.
            expectNoDifference(second.values.map(\.result.kind), [.unchanged])
        }
    }

    @Test func cancellingWhileItWaitsForTheRecordEndsIt() async throws {
        let clock = TestClock()
        try await World.run(clock: clock) { world in
            let people = world.database.layout(PlainContact.self)
            let draft = try await changed(people)
            world.sandbox.inject(.error(.init(301)), on: .editRecord, count: nil)
            let save = Saved()
            people.save(draft).subscribe(save)
            await until {
                (world.sandbox.counters.requests[.editRecord] ?? 0) > 0 && clock.timers.contains { $0 < .seconds(60) }
            }
            save.cancel()
            clock.advance(by: .seconds(60))
            await settled { world.database.sessionStatus.leased }
            expectNoDifference(world.sandbox.counters.requests[.editRecord], 1)
            expectNoDifference(save.values.count, 0)
            #expect(save.completionIfAny == nil)
            expectNoDifference(world.database.sessionStatus.leased, 0)
            world.sandbox.clearFaults()
        }
    }

    @Test(arguments: [Sandbox.Endpoint.editRecord, .getRecord])
    func cancellingWhileAStepIsOnItsWayEndsIt(endpoint: Sandbox.Endpoint) async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let draft = try await changed(people)
            _ = try await people.layout.editRecord(["Email": "a"], recordId: 1).firstValue()
            world.sandbox.inject(.holdAnswer, on: endpoint)
            let save = Saved()
            people.save(draft, onConflict: .merge).subscribe(save)
            await world.sandbox.untilAnswersHeld()
            save.cancel()
            save.cancel()
            world.sandbox.releaseAnswers()
            await until { world.database.sessionStatus.leased == 0 }
            expectNoDifference(save.history.count, 1)
        }
    }

    @Test func cancellingInsideTheValueKeepsTheEndBack() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let draft = try await changed(people)
            let box = Locked<Saved?>(nil)
            let save = Saved(onEvent: { if case .value = $0 { box.value?.cancel() } })
            box.change { $0 = save }
            people.save(draft).subscribe(save)
            await save.valueCount(atLeast: 1)
            await settled { save.history.count }
            #expect(save.completionIfAny == nil)
            box.change { $0 = nil }
        }
    }

    @Test func theNextMayBeginInsideTheEndOfTheOneBefore() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 1 }) { world in
            let people = world.database.layout(PlainContact.self)
            let draft = try await changed(people)
            let second = Saved()
            let first = Saved(onEvent: {
                if case .completion = $0 { people.update(1) { $0.city = "Rome" }.subscribe(second) }
            })
            people.save(draft).subscribe(first)
            #expect(await second.completion().isFinished)
            expectNoDifference(second.values.map(\.modId), [2])
            expectNoDifference(world.sandbox.counters.requests[.login], 1)
        }
    }

    @Test func everythingIsReleased() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let draft = try await changed(people)
            weak var held: Watcher?
            do {
                let watcher = Watcher()
                held = watcher
                let finished = people.update(1) { [watcher] in $0.city = watcher.city }
                _ = try await finished.firstValue()
                let cancelled = Saved(initialDemand: .none)
                people.update(1) { [watcher] in $0.city = watcher.city }.subscribe(cancelled)
                cancelled.cancel()
                _ = try await people.save(draft, onConflict: .resolve { [watcher] _ in .value("\(watcher.city)") })
                    .firstValue()
            }
            await until { held == nil }
        }
    }

    private final class Watcher: Sendable {
        let city = "Paris"
    }

    @Test func valuesArriveOnTheCallersActor() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            try await Screen().check(people)
        }
    }

    @MainActor private final class Screen {
        func check(_ people: DataAPI.TypedLayout<PlainContact>) async throws {
            let done = TrackingSubscriber<Bool, FMRest.APIError>()
            people.update(1) { $0.city = "Paris" }
                .map { _ in
                    MainActor.preconditionIsolated()
                    return true
                }
                .subscribe(done)
            #expect(await done.completion().isFinished)
        }
    }

    // MARK: The pause

    @Test func aPauseBeginsWithDemandAndEndsOnce() {
        let time = TestClock()
        let pause = PausePublisher(pause: .seconds(2), time: time.sessionTime)
        let waiting = pause.record(demand: .none, describe: { "\($0)" })
        time.advance(by: .seconds(5))
        waiting.request(.max(1))
        expectNoDifference(time.timers.count, 1)
        time.advance(by: .seconds(1))
        expectNoDifference(waiting.history, [])
        time.advance(by: .seconds(1))
        expectNoDifference(waiting.history, ["()", "finished"])
        let cancelled = pause.record()
        cancelled.cancel()
        expectNoDifference(time.timers.count, 0)
        time.advance(by: .seconds(5))
        expectNoDifference(cancelled.history, [])
    }
}
