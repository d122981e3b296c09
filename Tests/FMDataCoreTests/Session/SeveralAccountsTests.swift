import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import OpenCombine
import Testing

@testable import FMDataCore

/// Several accounts of one server object at the same time: none gets anything that belongs to another.
@Suite(.timeLimit(.minutes(15))) struct SeveralAccountsTests {
    private typealias Numbers = TrackingSubscriber<String, FMRest.APIError>

    /// Runs a test with Ada's and Eve's database objects.
    private static func run(
        client: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (_ ada: DataAPI.Database, _ eve: DataAPI.Database, Sandbox) async throws -> Void
    ) async throws {
        try await Shop.run(client: client) { ada, sandbox in
            let eve = ada.signedIn(as: Shop.eve)
            try await body(ada, eve, sandbox)
            _ = await eve.logOut().awaitSingleResult()
        }
    }

    @Test func eachReadsWhatItSees() async throws {
        try await Self.run { ada, eve, sandbox in
            async let adas = ada.numbers()
            async let eves = eve.numbers()
            expectNoDifference(awaited: try await [adas, eves], [Shop.adas, Shop.eves])
            expectNoDifference([ada, eve].map(\.credentials.kind), [.token, .token])
            _ = try await eve.logOut().firstValue()
            expectNoDifference(awaited: try await ada.who(), "ada")
            expectNoDifference(sandbox.counters.logins, 2)
        }
    }

    /// A web handler gets the database of its user in each request.
    @Test func whoAsksForSomebodyElsesLeavesTheOthersAlone() async throws {
        try await Self.run { ada, eve, sandbox in
            sandbox.inject(.holdAnswer, on: .find)
            let numbers = Numbers()
            ada.found.firstRecord(isolation: nil).map { $0?.fieldData.number ?? "" }.subscribe(numbers)
            await sandbox.untilAnswersHeld()
            let hers = ada.server.addDatabase("Shop", credentials: Shop.eve)
            #expect(hers === eve)
            expectNoDifference(awaited: try await hers.who(), "eve")
            let wrong = ada.server.addDatabase("Shop", credentials: Credentials(user: "ada", password: "guessed"))
            let refused = await wrong.orders.firstRecord().awaitSingleResult().failure
            expectNoDifference(refused?.fileMakerCode, .invalidAccount)
            sandbox.releaseAnswers()
            await numbers.completion()
            expectNoDifference(numbers.values, ["a1"])
            expectNoDifference(awaited: try await ada.who(), "ada")
        }
    }

    @Test func readsAreSharedByOneAccountAlone() async throws {
        try await Self.run { ada, eve, sandbox in
            sandbox.inject(.holdAnswer, on: .find, count: 2)
            let subscribers = [ada, eve, ada, eve].map { database in
                let subscriber = Numbers()
                database.found.coalescingReads().firstRecord(isolation: nil).map { $0?.fieldData.number ?? "" }
                    .subscribe(
                        subscriber
                    )
                return subscriber
            }
            await sandbox.untilAnswersHeld(2)
            sandbox.releaseAnswers()
            for subscriber in subscribers { await subscriber.completion() }
            expectNoDifference(subscribers.map(\.values), [["a1"], ["e1"], ["a1"], ["e1"]])
            expectNoDifference(sandbox.counters.requests[.find], 2)
        }
    }

    @Test func liveQueriesAreEachAccountsOwn() async throws {
        try await Self.run { ada, eve, sandbox in
            let subscribers = [ada, eve].map { database in
                let subscriber = TrackingSubscriber<[String], FMRest.APIError>()
                database.found.live(isolation: nil).map { $0.records.map(\.fieldData.number) }.subscribe(subscriber)
                return subscriber
            }
            for subscriber in subscribers { await subscriber.valueCount(atLeast: 1) }
            expectNoDifference(subscribers.map(\.values), [[Shop.adas], [Shop.eves]])
            // The objects that stand for records are separate too.
            let records = [ada, eve].map { DataAPI.LiveRecords($0.found.live(isolation: nil)) }
            await until { records.allSatisfy { $0.records.count == 6 } }
            expectNoDifference(records.map { $0.records.map(\.record.fieldData.number) }, [Shop.adas, Shop.eves])
            // A write of one account wakes only the queries of its own database object.
            _ = try await eve.orders.create(Shop.Order(number: "e7", customer: "E")).firstValue()
            await subscribers[1].valueCount(atLeast: 2)
            expectNoDifference(subscribers[1].values.last, Shop.eves + ["e7"])
            expectNoDifference(subscribers[0].values, [Shop.adas])
            for subscriber in subscribers { subscriber.cancel() }
        }
    }

    @Test func listsAndWhatIsKnownOfLayoutsAreEachAccountsOwn() async throws {
        try await Shop.run(clock: TestClock()) { ada, sandbox in
            let eve = ada.signedIn(as: Shop.eve)
            for database in [ada, eve] { _ = try await database.getLayoutNames().firstValue() }
            expectNoDifference(
                [ada, eve].map { $0.layoutList.map(\.name) },
                [["Orders", "Customers", "Of ada"], ["Orders", "Customers", "Of eve"]]
            )
            for database in [ada, eve, ada, eve] {
                _ = await database.addLayout("Orders").createRecord(record: .init(createRecord: ["Nmae": "x"]))
                    .awaitSingleResult()
            }
            expectNoDifference(sandbox.counters.requests[.layoutMetadata], 2)
            _ = await eve.logOut().awaitSingleResult()
        }
    }

    @Test func joinsAndPagesAreEachAccountsOwn() async throws {
        try await Self.run { ada, eve, _ in
            func joined(_ database: DataAPI.Database) async throws -> [[String]] {
                try await ["A", "E"].publisher.setFailureType(to: FMRest.APIError.self)
                    .joining(database.found, on: { $0 }, equals: .customer, isolation: nil)
                    .map { $0.children.map(\.fieldData.number) }
                    .collect().eraseToAnyPublisher().firstValue()
            }
            async let adas = joined(ada)
            async let eves = joined(eve)
            expectNoDifference(awaited: try await adas, [Shop.adas, []])
            expectNoDifference(awaited: try await eves, [[], Shop.eves])
            // Customers of one account are joined with orders of the other: each is read with its own account.
            let across = try await ada.layout(Shop.Customer.self).find { $0(.name).isNotEmpty }.all(isolation: nil)
                .joining(eve.found, on: { _ in "E" }, equals: .customer, isolation: nil)
                .map { "\($0.parent.fieldData.name) \($0.children.map(\.fieldData.number))" }
                .collect().eraseToAnyPublisher().firstValue()
            expectNoDifference(across, ["A \(Shop.eves)"])
            let (one, other) = (Numbers(), Numbers())
            ada.found.all(pageSize: 1, isolation: nil).map(\.fieldData.number).subscribe(one)
            eve.found.all(pageSize: 1, isolation: nil).map(\.fieldData.number).subscribe(other)
            await one.completion()
            await other.completion()
            expectNoDifference([one.values, other.values], [Shop.adas, Shop.eves])
        }
    }

    @Test func eachAccountTakesItsOwnSessionFromATokenStore() async throws {
        try await withTemporaryFolder { folder in
            let store = DataAPI.TokenStore.file(at: folder.appendingPathComponent("sessions").path)
            try await Shop.run(client: { $0.sessions.tokenStore = store }) { ada, sandbox in
                for _ in 0..<3 {
                    // The object is created and released again, as in one web request after the other.
                    expectNoDifference(awaited: try await ada.signedIn(as: Shop.eve).who(), "eve")
                    expectNoDifference(awaited: try await ada.who(), "ada")
                }
                expectNoDifference(sandbox.counters.logins, 2)
                let wrong = ada.signedIn(as: Credentials(user: "eve", password: "guessed"))
                let refused = await wrong.orders.firstRecord().awaitSingleResult().failure
                expectNoDifference(refused?.fileMakerCode, .invalidAccount)
                _ = try await ada.signedIn(as: Shop.eve).logOut().firstValue()
                expectNoDifference(sandbox.counters.openSessions, 1)
            }
        }
    }

    /// A token store file with a thousand entries drops one of them for a new account. The session of the dropped entry
    /// stays open on the host, since it is not logged out.
    @Test func whoseEntryAFullFileForgetsStaysOnTheHost() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("sessions")
            func entries() throws -> [String: String] {
                try JSONDecoder().decode([String: String].self, from: Data(contentsOf: file))
            }
            try await Shop.run(client: { $0.sessions.tokenStore = .file(at: file.path) }) { ada, sandbox in
                expectNoDifference(awaited: try await ada.who(), "ada")
                // The file is written after the answers have been delivered.
                await until { (try? entries())?.count == 1 }
                let token = try #require(entries().values.first)
                let full = Dictionary(uniqueKeysWithValues: (1...1000).map { ("another \($0)", token) })
                try JSONEncoder().encode(full).write(to: file)

                expectNoDifference(awaited: try await ada.signedIn(as: Shop.eve).who(), "eve")
                await until { (try? entries())?.values.contains { $0 != token } == true }
                let left = try entries()
                expectNoDifference(left.count, 1000)
                expectNoDifference(left.values.count { $0 == token }, 999)
                expectNoDifference(sandbox.counters.openSessions, 2)
                expectNoDifference(sandbox.counters.logouts, 0)
                _ = try await ada.signedIn(as: Shop.eve).logOut().firstValue()
            }
        }
    }

    /// A service with many users during a day, each of whom comes once.
    @Test func usersWhoHaveGoneLeaveNothing() async throws {
        let users = (0..<100).map { "user \($0)" }
        var solution = Shop.solution
        solution.accounts += users.map { .init(name: $0, password: "x") }
        try await Hosted.run(solution, credentials: Shop.ada) { ada, sandbox in
            await withTaskGroup(of: Void.self) { group in
                for lane in 0..<4 {
                    group.addTask {
                        for place in stride(from: lane, to: users.count, by: 4) {
                            let user = users[place]
                            let who = try? await ada.signedIn(as: Credentials(user: user, password: "x")).who()
                            expectNoDifference(who, user)
                        }
                    }
                }
            }
            await until { sandbox.counters.openSessions == 0 && ada.server.registeredCount == 1 }
            expectNoDifference(sandbox.counters.logins, users.count)
            expectNoDifference(sandbox.counters.logouts, users.count)
            expectNoDifference(ada.server.databases.count, 1)
            // Those that have gone are forgotten when the next one comes: on a busy machine some may still be ending
            // when the last user has come.
            _ = ada.signedIn(as: Credentials(user: "user 0", password: "x"))
            let known = ada.server.pools.withLockedValue { $0.count }
            #expect(known <= 8, "\(known) pools are known")
        }
    }

    @Test func aPasswordIsInNoText() async throws {
        try await Shop.run { ada, _ in
            let hers = ada.signedIn(as: Credentials(user: "mallory", password: "PASSWORD"))
            let error = await hers.orders.firstRecord().awaitSingleResult().failure
            var texts = ["\(hers)", "\(ada.server)", "\(String(reflecting: error))", "\(hers.calls)"]
            for object in [hers, ada.server, hers.identity, hers.accountPeriod] as [Any] {
                var text = ""
                dump(object, to: &text)
                texts.append(text)
            }
            #expect(!texts.contains { $0.contains("PASSWORD") })
        }
    }
}
