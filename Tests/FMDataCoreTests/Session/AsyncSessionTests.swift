import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// `withSession` for `async` code: the work runs in one session of its own, and errors and cancellation end both.
@Suite(.timeLimit(.minutes(15))) struct AsyncSessionTests {
    private struct Filtered: LayoutRecord {
        static let layout = "Contacts"
        var name: String
        var filter: String
        enum CodingKeys: String, CodingKey { case name = "Name", filter = "gFilter" }
    }

    private struct Trouble: Error {}

    private func filter(_ database: DataAPI.Database) async throws -> String? {
        try await database.layout(Filtered.self).firstRecord().firstValue()?.fieldData.filter
    }

    @Test func globalsAreSeenInsideAndTheSessionEndsWithTheWork() async throws {
        try await World.run { world in
            let inside = try await world.database.withSession { pinned in
                try await pinned.setGlobals(["Contacts::gFilter": "mine"]).firstValue()
                #expect(world.sandbox.counters.openSessions == 1)
                return try await filter(pinned)
            }
            expectNoDifference(inside, "mine")
            let outside = try await filter(world.database)
            expectNoDifference(outside, "")
            await until { world.sandbox.counters.logouts == 1 }
        }
    }

    @Test func whatTheWorkThrowsComesBackAndTheSessionEnds() async throws {
        try await World.run { world in
            await #expect(throws: Trouble.self) {
                try await world.database.withSession { pinned in
                    _ = try await filter(pinned)
                    throw Trouble()
                }
            }
            await until { world.sandbox.counters.openSessions == 0 }
            let refused = await #expect(throws: FMRest.APIError.self) {
                try await world.database.withSession { pinned in
                    try await pinned.layout(Filtered.self).record(id: 999).firstValue().fieldData.filter
                }
            }
            expectNoDifference(refused?.fileMakerCode, .recordMissing)
        }
    }

    @Test func whoCannotLogInThrowsAndTheWorkIsNotDone() async throws {
        try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
            let error = await #expect(throws: FMRest.APIError.self) {
                try await world.database.withSession { _ in Issue.record("the work was done") }
            }
            expectNoDifference(error?.fileMakerCode, .invalidAccount)
        }
    }

    @Test func cancellingTheTaskEndsWhatIsUnderWay() async throws {
        try await World.run { world in
            world.sandbox.inject(.holdAnswer, on: .getRecords)
            let database = world.database
            let task = Task { try await database.withSession { try await filter($0) } }
            await world.sandbox.untilAnswersHeld()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            world.sandbox.releaseAnswers()
            await until { world.sandbox.counters.openSessions == 0 }
        }
    }

    @Test func cancellingTheTaskEndsTheWaitForTheSession() async throws {
        try await World.run(client: { $0.sessions.maximumSessions = 1 }) { world in
            world.sandbox.inject(.holdAnswer, on: .getRecords)
            let database = world.database
            let busy = TrackingSubscriber<DataAPI.TypedLayout<Filtered>.Record?, FMRest.APIError>()
            database.layout(Filtered.self).firstRecord(isolation: nil).subscribe(busy)
            await world.sandbox.untilAnswersHeld()
            let task = Task { try await database.withSession { _ in Issue.record("the work was done") } }
            await until { database.sessionStatus.waiting == 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            expectNoDifference(database.sessionStatus.waiting, 0)
            world.sandbox.releaseAnswers()
            await busy.completion()
        }
    }

    /// An actor that passes a closure to `withSession`. The closure may use the actor's state, since it runs on the
    /// actor.
    private actor Desk {
        var seen: [String?] = []

        func look(in database: DataAPI.Database) async throws {
            try await database.withSession { pinned in
                let first = try await pinned.layout(Filtered.self).firstRecord().firstValue()
                seen.append(first?.fieldData.filter)
            }
        }
    }

    @Test func theWorkRunsWhereItIsWritten() async throws {
        try await World.run { world in
            let budgetClient = Desk()
            try await budgetClient.look(in: world.database)
            let seen = await budgetClient.seen
            expectNoDifference(seen, [""])
        }
    }
}
