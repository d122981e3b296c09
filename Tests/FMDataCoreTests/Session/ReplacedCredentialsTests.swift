import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Credentials of a database are replaced while it is in use: what was read as the previous account is not delivered to
/// the new one.
@Suite(.timeLimit(.minutes(15))) struct ReplacedCredentialsTests {
    private typealias Numbers = TrackingSubscriber<String, FMRest.APIError>

    // MARK: Calls

    @Test func whatIsUnderWayFailsAndTheNextIsTheNewAccounts() async throws {
        try await Shop.run { database, sandbox in
            expectNoDifference(awaited: try await database.numbers(), Shop.adas)
            sandbox.inject(.holdAnswer, on: .find)
            let numbers = Numbers()
            database.found.firstRecord(isolation: nil).map { $0?.fieldData.number ?? "" }.subscribe(numbers)
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            expectNoDifference(numbers.values, [])
            let error = numbers.completionIfAny?.error
            expectNoDifference(error?.code, .credentialsReplaced)
            expectNoDifference(error?.outcomeIsUnknown, false)
            expectNoDifference(error?.isRetryable, false)
            #expect(error?.request?.path.hasSuffix("/layouts/Orders/_find") == true, "\(error as Any)")
            expectNoDifference(database.credentials, Shop.eve)
            expectNoDifference(awaited: try await database.numbers(), Shop.eves)
            expectNoDifference(awaited: try await database.who(), "eve")
            sandbox.releaseAnswers()
            await until { sandbox.counters.openSessions == 1 }
            expectNoDifference(numbers.history.count, 2)
        }
    }

    @Test func whoWaitsForASessionIsNotServedAsTheNewAccount() async throws {
        try await Shop.run(client: { $0.sessions.maximumSessions = 1 }) { database, sandbox in
            sandbox.inject(.holdAnswer, on: .login)
            let waiting = (0..<3).map { _ in Numbers() }
            for subscriber in waiting {
                database.orders.layout.runScript("Who", isolation: nil).map { $0.scriptResult ?? "" }.subscribe(
                    subscriber
                )
            }
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            for subscriber in waiting {
                let error = subscriber.completionIfAny?.error
                expectNoDifference(error?.code, .credentialsReplaced)
                expectNoDifference(error?.outcomeIsUnknown, false, "it was never sent")
            }
            sandbox.releaseAnswers()
            expectNoDifference(awaited: try await database.who(), "eve")
            expectNoDifference(sandbox.counters.scriptRuns, 1)
        }
    }

    /// Code that receives the failure signs in as the previous account, and gets another object: this one belongs to
    /// the new account.
    @Test func whoAsksForTheAccountBeforeInBetweenIsGivenAnother() async throws {
        try await Shop.run(client: { $0.sessions.maximumSessions = 1 }) { database, sandbox in
            sandbox.inject(.holdAnswer, on: .login)
            let given = Locked<[Bool]>([])
            let waiting = database.orders.layout.runScript("Who", isolation: nil).sink(
                receiveCompletion: { _ in
                    let hers = database.signedIn(as: Shop.ada)
                    given.change { $0 = [hers === database, database.signedIn(as: Shop.eve) === database] }
                },
                receiveValue: { _ in }
            )
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            expectNoDifference(given.value, [false, true])
            sandbox.releaseAnswers()
            waiting.cancel()
        }
    }

    @Test func ofAWriteThatWasSentNobodyKnows() async throws {
        try await Shop.run { database, sandbox in
            sandbox.inject(.holdAnswer, on: .createRecord)
            let made = TrackingSubscriber<DataAPI.CreateResponse, FMRest.APIError>()
            database.orders.create(Shop.Order(number: "new", customer: "A"), isolation: nil).subscribe(made)
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            let error = made.completionIfAny?.error
            expectNoDifference(error?.code, .credentialsReplaced)
            expectNoDifference(error?.outcomeIsUnknown, true)
            sandbox.releaseAnswers()
            database.replaceCredentials(Shop.ada)
            expectNoDifference(awaited: try await database.numbers(), Shop.adas + ["new"])
            expectNoDifference(sandbox.counters.requests[.createRecord], 1)
        }
    }

    @Test func theSameCredentialsBeginNewSessionsAndNothingElse() async throws {
        try await Shop.run { database, sandbox in
            _ = try await database.getLayoutNames().firstValue()
            sandbox.inject(.holdAnswer, on: .find)
            let numbers = Numbers()
            database.found.firstRecord(isolation: nil).map { $0?.fieldData.number ?? "" }.subscribe(numbers)
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.ada)
            sandbox.releaseAnswers()
            await numbers.completion()
            expectNoDifference(numbers.values, ["a1"])
            expectNoDifference(database.layoutList.count, 3)
            _ = try await database.who()
            expectNoDifference(sandbox.counters.logins, 2)
            await until { sandbox.counters.openSessions == 1 }
        }
    }

    @Test func aLoginAsSomebodyElseIsAReplacementWhenItSucceeds() async throws {
        try await Shop.run { database, sandbox in
            _ = try await database.getLayoutNames().firstValue()
            _ = await database.login(credentials: Credentials(user: "eve", password: "wrong")).awaitSingleResult()
            expectNoDifference(awaited: try await database.who(), "ada")
            sandbox.inject(.holdAnswer, on: .find)
            let numbers = Numbers()
            database.found.firstRecord(isolation: nil).map { $0?.fieldData.number ?? "" }.subscribe(numbers)
            await sandbox.untilAnswersHeld()
            _ = try await database.login(credentials: Shop.eve).firstValue()
            expectNoDifference(numbers.completionIfAny?.code, .credentialsReplaced)
            expectNoDifference(database.layoutList, [])
            expectNoDifference(database.credentials.kind, .token)
            expectNoDifference(awaited: try await database.who(), "eve")
            sandbox.releaseAnswers()
            await until { sandbox.counters.openSessions == 1 }
        }
    }

    // MARK: Shared reads

    @Test func whatIsSharedIsSharedWithTheNewAccountNoMore() async throws {
        try await Shop.run { database, sandbox in
            let shared = database.found.coalescingReads()
            sandbox.inject(.holdAnswer, on: .find, count: 2)
            let hers = (0..<3).map { _ in Numbers() }
            func ask(_ subscriber: Numbers) {
                shared.firstRecord(isolation: nil).map { $0?.fieldData.number ?? "" }.subscribe(subscriber)
            }
            for subscriber in hers { ask(subscriber) }
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            expectNoDifference(hers.map { $0.completionIfAny?.code }, Array(repeating: .credentialsReplaced, count: 3))
            let next = (0..<2).map { _ in Numbers() }
            for subscriber in next { ask(subscriber) }
            await sandbox.untilAnswersHeld(2)
            sandbox.releaseAnswers()
            for subscriber in next { await subscriber.completion() }
            expectNoDifference(next.map(\.values), [["e1"], ["e1"]])
            expectNoDifference(hers.map(\.values), [[], [], []])
            expectNoDifference(sandbox.counters.requests[.find], 2)
        }
    }

    // MARK: Remembered lists

    @Test func listsAreEmptyAndThoseOfTheNewAccountFollow() async throws {
        try await Shop.run { database, _ in
            _ = try await database.getScriptNames().firstValue()
            let names = try await database.getLayoutNames().firstValue().map(\.name)
            expectNoDifference(names, ["Orders", "Customers", "Of ada"])
            let scripts = TrackingSubscriber<Int, Never>()
            database.$scriptList.map(\.count).subscribe(scripts)
            database.replaceCredentials(Shop.eve)
            expectNoDifference(database.layoutList, [])
            expectNoDifference(scripts.values, [2, 0])
            scripts.cancel()
            let next = try await database.getLayoutNames().firstValue().map(\.name)
            expectNoDifference(next, ["Orders", "Customers", "Of eve"])
            expectNoDifference(database.layoutList.map(\.name), next)
        }
    }

    @Test func whatIsKnownOfLayoutsIsAskedForAnew() async throws {
        try await Shop.run(clock: TestClock()) { database, sandbox in
            func fail() async {
                let error = await database.addLayout("Orders").createRecord(record: .init(createRecord: ["Nmae": "x"]))
                    .awaitSingleResult().failure
                expectNoDifference(error?.fields, ["Nmae"])
            }
            await fail()
            await fail()
            expectNoDifference(sandbox.counters.requests[.layoutMetadata], 1)
            database.replaceCredentials(Shop.eve)
            await fail()
            expectNoDifference(sandbox.counters.requests[.layoutMetadata], 2)
        }
    }

    /// The answer arrives after the request has been cancelled.
    @Test func anAnswerThatComesLateIsRememberedByNobody() async throws {
        try await Shop.run { database, sandbox in
            sandbox.inject(.holdAnswer, on: .layouts)
            let names = TrackingSubscriber<Int, FMRest.APIError>()
            database.getLayoutNames(isolation: nil).map(\.count).subscribe(names)
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            sandbox.releaseAnswers()
            expectNoDifference(awaited: try await database.who(), "eve")
            expectNoDifference(database.layoutList, [])
            expectNoDifference(names.completionIfAny?.code, .credentialsReplaced)
        }
    }

    // MARK: Token stores

    @Test func eachAccountHasAnEntryOfItsOwnInATokenStore() async throws {
        try await withTemporaryFolder { folder in
            let store = DataAPI.TokenStore.file(at: folder.appendingPathComponent("sessions").path)
            try await Shop.run(client: { $0.sessions.tokenStore = store }) { database, sandbox in
                expectNoDifference(awaited: try await database.who(), "ada")
                database.replaceCredentials(Shop.eve)
                expectNoDifference(awaited: try await database.who(), "eve")
                database.replaceCredentials(Shop.ada)
                expectNoDifference(awaited: try await database.who(), "ada")
                // Ada's session was saved in the store and is used again.
                expectNoDifference(sandbox.counters.logins, 2)
                // A login with another password does not get the session.
                database.replaceCredentials(Credentials(user: "ada", password: "guessed"))
                let error = await database.orders.firstRecord().awaitSingleResult().failure
                expectNoDifference(error?.fileMakerCode, .invalidAccount)
                for credentials in [Shop.ada, Shop.eve] {
                    database.replaceCredentials(credentials)
                    _ = try await database.logOut().firstValue()
                }
                expectNoDifference(sandbox.counters.openSessions, 0)
            }
        }
    }

    // MARK: Several calls

    @Test func theNextPageIsNotReadAndWhatHasComeIsNotHandedOver() async throws {
        try await Shop.run { database, sandbox in
            let numbers = Numbers(initialDemand: .max(1))
            database.found.all(pageSize: 2, isolation: nil).map(\.fieldData.number).subscribe(numbers)
            await numbers.valueCount(atLeast: 1)
            await settled { sandbox.counters.requests[.find] }
            let before = sandbox.counters.requests[.find]
            database.replaceCredentials(Shop.eve)
            numbers.request(.unlimited)
            await numbers.completion()
            expectNoDifference(numbers.values, ["a1"])
            expectNoDifference(numbers.completionIfAny?.code, .credentialsReplaced)
            expectNoDifference(sandbox.counters.requests[.find], before)
            expectNoDifference(awaited: try await database.numbers(), Shop.eves)
        }
    }

    @Test func aPageThatIsUnderWayIsCutOff() async throws {
        try await Shop.run { database, sandbox in
            sandbox.inject(.holdAnswer, on: .find, skipping: 1)
            let numbers = Numbers()
            database.found.all(pageSize: 2, isolation: nil).map(\.fieldData.number).subscribe(numbers)
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            expectNoDifference(numbers.values, ["a1", "a2"])
            expectNoDifference(numbers.completionIfAny?.code, .credentialsReplaced)
            sandbox.releaseAnswers()
            expectNoDifference(awaited: try await database.numbers(), Shop.eves)
            expectNoDifference(numbers.values, ["a1", "a2"])
        }
    }

    @Test func joinsEndWithTheirFinds() async throws {
        try await Shop.run { database, sandbox in
            sandbox.inject(.holdAnswer, on: .find)
            let pairs = TrackingSubscriber<[String], FMRest.APIError>()
            let customers = database.layout(Shop.Customer.self)
            ["A", "E"].publisher.setFailureType(to: FMRest.APIError.self)
                .joining(database.found, on: { $0 }, equals: .customer, isolation: nil)
                .map { $0.children.map(\.fieldData.number) }
                .subscribe(pairs)
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            expectNoDifference(pairs.values, [])
            expectNoDifference(pairs.completionIfAny?.code, .credentialsReplaced)
            sandbox.releaseAnswers()
            let own = try await customers.all(isolation: nil)
                .joining(database.found, on: \.fieldData.name, equals: .customer, isolation: nil)
                .map { $0.children.map(\.fieldData.number) }
                .collect().eraseToAnyPublisher().firstValue()
            // Ada's customer is a record for Eve too, but she sees none of its fields or orders.
            expectNoDifference(own, [[], Shop.eves])
        }
    }

    @Test func recordsByTheirIdsAreThoseOfOneAccount() async throws {
        try await Shop.run(client: { $0.sessions.maximumSessions = 1 }) { database, sandbox in
            sandbox.inject(.holdAnswer, on: .getRecord, skipping: 1)
            let numbers = Numbers()
            database.orders.records(ids: [1, 3, 2, 4], isolation: nil).map(\.fieldData.number).subscribe(numbers)
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            expectNoDifference(numbers.values, ["a1"])
            expectNoDifference(numbers.completionIfAny?.code, .credentialsReplaced)
            sandbox.releaseAnswers()
            _ = try await database.who()
            expectNoDifference(sandbox.counters.requests[.getRecord], 2)
        }
    }

    /// A row that was sent as the previous account is reported as unknown.
    @Test func noRowIsWrittenAsTheNewAccount() async throws {
        try await Shop.run { database, sandbox in
            sandbox.inject(.holdAnswer, on: .createRecord, skipping: 1)
            let rows = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>()
            let orders = (1...5).map { Shop.Order(number: "x\($0)", customer: "") }
            database.orders
                .writing(
                    orders.map { .create($0) },
                    options: .init(concurrency: 1, order: .input),
                    isolation: nil
                )
                .subscribe(rows)
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            await rows.completion()
            sandbox.releaseAnswers()
            expectNoDifference(rows.values.prefix(2).map(\.result.kind), [.created, .unknown])
            for row in rows.values.dropFirst(2) {
                guard row.result.kind == .failed else { continue }
                expectNoDifference(row.error?.code, .credentialsReplaced)
            }
            expectNoDifference(rows.completionIfAny?.code, .credentialsReplaced)
            expectNoDifference(sandbox.counters.requests[.createRecord], 2)
            expectNoDifference(awaited: try await database.numbers(), Shop.eves)
        }
    }

    @Test func whatWasReadForASaveIsNotSaved() async throws {
        try await Shop.run { database, sandbox in
            sandbox.inject(.holdAnswer, on: .getRecord)
            let saved = TrackingSubscriber<DataAPI.Saved<Shop.Order>, FMRest.APIError>()
            database.orders.update(1, isolation: nil) { $0.customer = "mine" }.subscribe(saved)
            await sandbox.untilAnswersHeld()
            database.replaceCredentials(Shop.eve)
            await saved.completion()
            expectNoDifference(saved.completionIfAny?.code, .credentialsReplaced)
            sandbox.releaseAnswers()
            _ = try await database.who()
            expectNoDifference(sandbox.counters.requests[.editRecord], nil)
        }
    }

    // MARK: Pinned sessions

    @Test func pinnedSessionsAndGlobalsAreGone() async throws {
        try await Shop.run { database, sandbox in
            let error = try await database.withSession { pinned -> FMRest.APIError? in
                _ = try await pinned.setGlobals(["Orders::Filter": "ada's"]).firstValue()
                expectNoDifference(awaited: try await pinned.who(), "ada")
                database.replaceCredentials(Shop.eve)
                return await pinned.orders.layout.runScript("Filter").awaitSingleResult().failure
            }
            expectNoDifference(error?.code, .credentialsReplaced)
            let inside = try await database.withSession { pinned in
                try await pinned.orders.layout.runScript("Filter").firstValue().scriptResult
            }
            expectNoDifference(inside ?? "", "")
            await until { sandbox.counters.openSessions <= 1 }
        }
    }

    @Test func globalsOutsideOfASessionAreGone() async throws {
        try await Shop.run { database, _ in
            _ = try await database.setGlobals(["Orders::Filter": "ada's"]).firstValue()
            expectNoDifference(
                awaited: try await database.orders.layout.runScript("Filter").firstValue().scriptResult,
                "ada's"
            )
            database.replaceCredentials(Shop.eve)
            expectNoDifference(
                awaited: try await database.orders.layout.runScript("Filter").firstValue().scriptResult ?? "",
                ""
            )
        }
    }

    // MARK: Races

    /// Code that reads while other threads replace the credentials gets what one account sees, or a failure.
    @Test func onManyThreadsEveryAnswerIsOfOneAccount() async throws {
        try await Shop.run { database, sandbox in
            await withTaskGroup(of: Void.self) { group in
                for reader in 0..<4 {
                    group.addTask {
                        for _ in 0..<10 {
                            let all = reader.isMultiple(of: 2) ? database.found.coalescingReads() : database.found
                            let answer = await all.all(pageSize: 2, isolation: nil).map(\.fieldData.number)
                                .collect().eraseToAnyPublisher().awaitSingleResult()
                            switch answer {
                            case .success(let numbers):
                                #expect([Shop.adas, Shop.eves].contains(numbers), "\(numbers)")
                            case .failure(let error): expectNoDifference(error.code, .credentialsReplaced)
                            }
                        }
                    }
                }
                group.addTask {
                    for turn in 0..<20 {
                        database.replaceCredentials(turn.isMultiple(of: 2) ? Shop.eve : Shop.ada)
                        _ = await database.orders.layout.runScript("Who").awaitSingleResult()
                    }
                }
            }
            database.replaceCredentials(Shop.eve)
            expectNoDifference(awaited: try await database.numbers(), Shop.eves)
            expectNoDifference(awaited: try await database.who(), "eve")
            await until { sandbox.counters.openSessions <= 8 }
        }
    }
}
