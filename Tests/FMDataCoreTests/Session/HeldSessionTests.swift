import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Work that holds a session for longer than a host keeps an idle one. The clocks of host and client stand still until
/// a test advances them.
@Suite(.timeLimit(.minutes(15))) struct HeldSessionTests {
    private struct Still {
        let sandbox: Sandbox
        let clock: ManualClock
        let time: TestClock
        let database: DataAPI.Database

        var questions: Int { sandbox.counters.requests[.validateSession] ?? 0 }

        /// Lets time pass on both sides.
        func pass(_ minutes: Int64) {
            clock.advance(by: .seconds(minutes * 60))
            time.advance(by: .seconds(minutes * 60))
        }

        /// Lets ten minutes pass, after which the host is asked for the session, and the alarm is set anew. The last of
        /// them must be over before an hour has passed, when an alarm of the pool goes off.
        func passUntilAsked() async {
            let (asked, timers) = (questions, time.timers.count)
            pass(10)
            await until { questions == asked + 1 && time.timers.count == timers }
        }
    }

    private func run(_ body: (Still) async throws -> Void) async throws {
        let (clock, time) = (ManualClock(), TestClock())
        try await World.run(sandbox: { $0.clock = clock }, clock: time) { world in
            try await body(Still(sandbox: world.sandbox, clock: clock, time: time, database: world.database))
        }
    }

    private func filter(in database: DataAPI.Database) async throws -> String? {
        try await database.addLayout("Contacts").of(FieldData.self).firstRecord().firstValue()?.fieldData["gFilter"]?
            .text
    }

    @Test func aSessionThatIsKeptAliveOutlivesTheFifteenMinutes() async throws {
        try await run { still in
            let seen = try await still.database.withSession(keptAlive: true) { pinned in
                // Until the call has ended, not only until its value has come: a session in use is not asked for.
                _ = try await pinned.setGlobals(["Contacts::gFilter": "Oslo"]).collect().firstValue()
                for _ in 1...5 { await still.passUntilAsked() }
                return try await filter(in: pinned)
            }
            expectNoDifference(seen, "Oslo")
            expectNoDifference(still.questions, 5)
            expectNoDifference(still.sandbox.counters.logins, 1)
            still.pass(60)
            expectNoDifference(still.questions, 5, "nothing is asked when the work has ended")
        }
    }

    @Test func otherwiseTheNextCallFindsItLost() async throws {
        try await run { still in
            let losses = TrackingSubscriber<FMRest.APIError, Never>()
            do {
                _ = try await still.database.withSession { pinned in
                    pinned.sessionLoss.subscribe(losses)
                    try await pinned.setGlobals(["Contacts::gFilter": "Oslo"]).firstValue()
                    still.pass(16)
                    expectNoDifference(losses.values.count, 0)
                    return try await filter(in: pinned)
                }
                Issue.record("it was not lost")
            } catch {
                expectNoDifference((error as? FMRest.APIError)?.code, .sessionLost)
            }
            expectNoDifference(still.questions, 0)
            await losses.completion()
            expectNoDifference(losses.values.map(\.code), [.sessionLost])
        }
    }

    @Test func callsMakeTheQuestionNeedless() async throws {
        try await run { still in
            _ = try await still.database.withSession(keptAlive: true) { pinned in
                for _ in 1...5 {
                    _ = try await pinned.getScriptNames().firstValue()
                    still.pass(9)
                }
            }
            expectNoDifference(still.questions, 0)
        }
    }

    @Test func workThatIsAPublisherFailsWhenTheSessionIsFoundLost() async throws {
        try await run { still in
            let work = TrackingSubscriber<Int, FMRest.APIError>()
            let cancelled = Locked(0)
            still.database.withSessionPublisher(keptAlive: true, isolation: nil) { _ in
                Just(1).setFailureType(to: FMRest.APIError.self)
                    .append(Empty(completeImmediately: false))
                    .handleEvents(receiveCancel: { cancelled.change { $0 += 1 } })
                    .eraseToAnyPublisher()
            }
            .subscribe(work)
            await work.valueCount(atLeast: 1)
            await until { still.time.timers.contains(.seconds(600)) }
            still.sandbox.expireSessions()
            still.pass(10)
            guard case .failure(let error) = await work.completion() else {
                Issue.record("it did not fail")
                return
            }
            expectNoDifference(error.code, .sessionLost)
            expectNoDifference(error.fileMakerCode?.rawValue, 952)
            expectNoDifference(error.request?.path, "/validateSession")
            expectNoDifference(cancelled.value, 1)
            expectNoDifference(still.questions, 1)
        }
    }

    @Test func workThatAwaitsIsToldOfTheLoss() async throws {
        try await run { still in
            do {
                try await still.database.withSession(keptAlive: true) { pinned in
                    let losses = TrackingSubscriber<FMRest.APIError, Never>()
                    pinned.sessionLoss.subscribe(losses)
                    _ = try await pinned.getScriptNames().collect().firstValue()
                    still.sandbox.expireSessions()
                    still.pass(10)
                    await losses.completion()
                    expectNoDifference(losses.values.map(\.code), [.sessionLost])
                    let later = TrackingSubscriber<FMRest.APIError, Never>()
                    pinned.sessionLoss.subscribe(later)
                    await later.completion()
                    expectNoDifference(later.values.count, 1, "also to who asks later")
                    _ = try await pinned.getScriptNames().collect().firstValue()
                }
                Issue.record("the call after the loss succeeded")
            } catch {
                expectNoDifference((error as? FMRest.APIError)?.code, .sessionLost)
            }
        }
    }

    @Test func aQuestionThatIsNotAnsweredIsRepeated() async throws {
        try await run { still in
            _ = try await still.database.withSession(keptAlive: true) { pinned in
                _ = try await pinned.getScriptNames().collect().firstValue()
                still.sandbox.inject(.html(status: 503), on: .validateSession)
                still.pass(10)
                await until { still.questions == 1 && still.time.timers.contains(.seconds(60)) }
                still.pass(1)
                await until { still.questions == 2 && still.time.timers.contains(.seconds(600)) }
                _ = try await pinned.getScriptNames().collect().firstValue()
            }
            expectNoDifference(still.sandbox.counters.logins, 1)
        }
    }

    @Test func withoutALossTheNewsEndsWithTheWork() async throws {
        try await run { still in
            let losses = TrackingSubscriber<FMRest.APIError, Never>()
            _ = try await still.database.withSession { pinned in
                pinned.sessionLoss.subscribe(losses)
                return try await pinned.getScriptNames().firstValue().count
            }
            await losses.completion()
            expectNoDifference(losses.values.count, 0)
            let none = TrackingSubscriber<FMRest.APIError, Never>()
            still.database.sessionLoss.subscribe(none)
            await none.completion()
            expectNoDifference(none.values.count, 0)
        }
    }
}
