import CustomDump
import FMData
import FMSandbox
import FMTestHost
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// What observers of calls are told, from the public API down.
@Suite(.timeLimit(.minutes(15))) struct CallObserverTests {
    /// Collects what observers are told.
    private final class Notes: Sendable {
        struct Call: Sendable {
            let description: DataAPI.CallDescription
            let caller: String?
            let end: DataAPI.CallEnd?
        }

        private let calls = Locked<[Call]>([])
        private let begun = Locked(0)

        /// The calls that have ended, in the order of their ends.
        var ended: [Call] { calls.value }
        /// How many calls have begun.
        var count: Int { begun.value }
        /// The calls that have ended as texts: operation, rows, attempts, and how they ended.
        var lines: [String] {
            ended.map { call in
                guard let end = call.end else { return "" }
                let how = end.failure.map { "\($0.code)" } ?? (end.isCancelled ? "cancelled" : "fine")
                return "\(call.description.operation) \(end.rowCount) rows, \(end.attempts) attempts, \(how)"
            }
        }

        var observer: DataAPI.CallObserver {
            DataAPI.CallObserver { call in
                let caller = Caller.name
                self.begun.change { $0 += 1 }
                return DataAPI.CallObservation { end in
                    self.calls.change { $0.append(Call(description: call, caller: caller, end: end)) }
                }
            }
        }
    }

    private enum Caller {
        @TaskLocal static var name: String?
    }

    private typealias Records = DataAPI.RecordResponse<FieldData, EmptyPortal>

    private func run(_ notes: Notes, _ body: (World) async throws -> Void) async throws {
        try await World.run(client: { $0.observers = [notes.observer] }) { world in try await body(world) }
    }

    // MARK: The end

    @Test func aCallThatSucceedsEndsOnce() async throws {
        let notes = Notes()
        try await run(notes) { world in
            let call = world.countries.tagged("menu").getRecords().returnAs(FieldData.self)
            _ = try await call.firstValue()
            _ = await call.outcome()
            expectNoDifference(
                notes.lines,
                ["getRecords 100 rows, 1 attempts, fine", "getRecords 100 rows, 1 attempts, fine"]
            )
            let call0 = notes.ended[0]
            expectNoDifference(call0.description.origin, world.sandbox.url)
            expectNoDifference(call0.description.database, "World")
            expectNoDifference(call0.description.layout, "Countries")
            expectNoDifference(call0.description.recordId, nil)
            expectNoDifference(call0.description.tag, "menu")
            expectNoDifference(call0.description.isPoll, false)
            expectNoDifference(call0.end?.bytesSent, 0)
            #expect((call0.end?.bytesReceived ?? 0) > 10_000)
            #expect((call0.end?.duration ?? .zero) > .zero)
            expectNoDifference(notes.count, 2)
        }
    }

    @Test func theValueComesAfterTheEnd() async throws {
        let notes = Notes()
        try await run(notes) { world in
            let ended = Locked<[Int]>([])
            let call = world.countries.getRecords(isolation: nil).returnAs(FieldData.self)
                .handleEvents(
                    receiveOutput: { _ in ended.change { $0.append(notes.ended.count) } },
                    receiveCompletion: { _ in ended.change { $0.append(notes.ended.count) } }
                )
            _ = await call.outcome()
            expectNoDifference(ended.value, [1, 1])
        }
    }

    @Test func bytesOfBothDirectionsAreCounted() async throws {
        let notes = Notes()
        try await run(notes) { world in
            let id = try await world.contacts.createRecord(["City": "Oslo"]).firstValue().recordId
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data(repeating: 0x61, count: 100_000))
            _ = try await world.contacts.uploadContainer(file, to: "Photo", recordId: id).firstValue()
            expectNoDifference(notes.ended.map { $0.description.recordId }, [nil, id])
            expectNoDifference(notes.ended[0].end?.bytesSent, 29)
            let sent = notes.ended[1].end?.bytesSent ?? 0
            #expect((100_000...101_000).contains(sent))
            let received = notes.ended.compactMap { $0.end?.bytesReceived }
            #expect(received.allSatisfy { $0 > 50 })
        }
    }

    @Test func theRecordsOfAStreamAreCounted() async throws {
        let notes = Notes()
        try await run(notes) { world in
            let all = world.countries.records(FieldData.self, recordQuery: RecordQuery(limit: 200))
            _ = try await all.collect().firstValue()
            _ = try await all.first().firstValue()
            expectNoDifference(
                notes.lines,
                ["getRecords 200 rows, 1 attempts, fine", "getRecords 1 rows, 1 attempts, cancelled"]
            )
        }
    }

    @Test func aFailureIsToldWithItsError() async throws {
        let notes = Notes()
        try await run(notes) { world in
            _ = await world.contacts.deleteRecord(recordId: 999_999).awaitSingleResult()
            _ = await world.countries.records(
                FieldData.self,
                findQuery: FindQuery(query: [["Code": "==??"]])
            )
            .collect().awaitSingleResult()
        }
        expectNoDifference(notes.ended.map { $0.end?.failure?.fileMakerCode?.rawValue }, [101, 401])
        expectNoDifference(notes.ended.map { $0.end?.failure?.request?.method }, ["DELETE", "POST"])
    }

    @Test func aCancelledCallIsNoFailure() async throws {
        let notes = Notes()
        try await ScriptedHost.run(client: { $0.observers = [notes.observer] }, answer: { _ in .silence }) { host in
            for call in [
                host.layout.getRecords().returnAs(FieldData.self).map { _ in true }.eraseToAnyPublisher(),
                host.layout.records(FieldData.self).map { _ in true }.eraseToAnyPublisher(),
            ] {
                let known = host.calls.count
                let subscription = call.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
                await host.server.requestCount(atLeast: 1 + known + 1)
                subscription.cancel()
                subscription.cancel()
            }
            expectNoDifference(
                notes.lines,
                ["getRecords 0 rows, 1 attempts, cancelled", "getRecords 0 rows, 1 attempts, cancelled"]
            )
        }
    }

    @Test func aCallWhoseAccountIsReplacedFails() async throws {
        let notes = Notes()
        try await run(notes) { world in
            world.sandbox.inject(.holdAnswer, on: .getRecords)
            let reader = TrackingSubscriber<Records, FMRest.APIError>()
            world.countries.getRecords(isolation: nil).returnAs(FieldData.self).subscribe(reader)
            await world.sandbox.untilAnswersHeld()
            world.database.replaceCredentials(
                Credentials(user: Solution.Sample.guestUser, password: Solution.Sample.guestPassword)
            )
            await reader.completion()
            world.sandbox.releaseAnswers()
        }
        expectNoDifference(notes.lines, ["getRecords 0 rows, 1 attempts, credentialsReplaced"])
    }

    @Test func aCallThatNobodyAsksForAValueDoesNotBegin() async throws {
        let notes = Notes()
        try await run(notes) { world in
            let idle = TrackingSubscriber<Records, FMRest.APIError>(initialDemand: .none)
            world.countries.getRecords(isolation: nil).subscribe(idle)
            let formats = TrackingSubscriber<DataAPI.Server.ProductInfo, FMRest.APIError>(initialDemand: .none)
            world.database.server.getProductInfo(isolation: nil).subscribe(formats)
            idle.cancel()
            formats.cancel()
            expectNoDifference(notes.count, 0)
        }
    }

    @Test func aRequestThatCannotBeWrittenIsNoCall() async throws {
        let notes = Notes()
        try await run(notes) { world in
            let error = await world.database.setGlobals(["noTable": "a"]).awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(notes.count, 0)
        }
    }

    // MARK: Attempts

    @Test func aCallIsOneCallHoweverOftenItIsTried() async throws {
        let notes = Notes()
        try await run(notes) { world in
            _ = try await world.database.getScriptNames().firstValue()
            world.sandbox.inject(.error(FileMakerError(301)), on: .editRecord, count: 2)
            let contacts = world.contacts.retrying(DataAPI.RetryPolicy(firstPause: .zero, jitter: 0))
            _ = try await contacts.editRecord(["City": "Kiel"], recordId: 1).firstValue()
            world.sandbox.inject(.expireToken, on: .getRecords)
            _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
        }
        expectNoDifference(
            notes.lines,
            [
                "scriptNames 0 rows, 1 attempts, fine", "editRecord 0 rows, 3 attempts, fine",
                "getRecords 100 rows, 2 attempts, fine",
            ]
        )
    }

    @Test func theCauseOfAnErrorIsLookedUpByACallOfItsOwn() async throws {
        let notes = Notes()
        try await run(notes) { world in
            _ = await world.contacts.editRecord(["Nmae": "Ada"], recordId: 1).awaitSingleResult()
        }
        expectNoDifference(
            notes.lines,
            ["layoutMetadata 0 rows, 1 attempts, fine", "editRecord 0 rows, 1 attempts, fileMaker"]
        )
    }

    @Test func sharedAndCachedAnswersNeedNoAttempt() async throws {
        let notes = Notes()
        try await run(notes) { world in
            let shared = world.countries.coalescingReads().getRecords(isolation: nil).returnAs(FieldData.self)
            world.sandbox.inject(.holdAnswer, on: .getRecords)
            let readers = (0..<3).map { _ in TrackingSubscriber<Records, FMRest.APIError>() }
            shared.subscribe(readers[0])
            await world.sandbox.untilAnswersHeld()
            for reader in readers.dropFirst() { shared.subscribe(reader) }
            world.sandbox.releaseAnswers()
            for reader in readers { await reader.completion() }
            expectNoDifference(
                notes.lines.sorted(),
                [
                    "getRecords 100 rows, 0 attempts, fine", "getRecords 100 rows, 0 attempts, fine",
                    "getRecords 100 rows, 1 attempts, fine",
                ]
            )
            let cached = world.zones.cached(for: .seconds(600))
            for _ in 1...2 { _ = try await cached.getRecords().returnAs(FieldData.self).firstValue() }
            expectNoDifference(
                Array(notes.lines.dropFirst(3)),
                ["getRecords 100 rows, 1 attempts, fine", "getRecords 100 rows, 0 attempts, fine"]
            )
            expectNoDifference(notes.ended.last?.end?.bytesReceived, 0)
        }
    }

    @Test func aStepOfAnObservationSeesTheAttemptsOfItsCallAlone() async throws {
        let seen = Locked<[String]>([])
        let observer = DataAPI.CallObserver { call in
            guard call.operation == .editRecord else { return nil }
            let tag = call.tag ?? ""
            return DataAPI.CallObservation(
                middleware: .noting(seen) { "\(tag): \($0.operation) \($0.attempt) \($0.headers["X-Trace"] ?? "")" }
            ) { _ in }
        }
        try await World.run(
            client: {
                $0.observers = [observer]
                $0.middleware = [.headers(["X-Trace": "t"])]
            }
        ) { world in
            _ = try await world.database.getScriptNames().firstValue()
            world.sandbox.inject(.expireToken, on: .editRecord)
            _ = try await world.contacts.tagged("a").editRecord(["City": "Kiel"], recordId: 1).firstValue()
            _ = await world.contacts.tagged("b").editRecord(["Ctiy": "Kiel"], recordId: 1).awaitSingleResult()
        }
        expectNoDifference(seen.value, ["a: editRecord 1 t", "a: editRecord 2 t", "b: editRecord 1 t"])
    }

    // MARK: Who observes

    @Test func aCallsOwnObserversTakeThePlaceOfTheServers() async throws {
        let (common, own) = (Notes(), Notes())
        try await run(common) { world in
            let observed = world.countries.callOptions { $0.observers = [own.observer, own.observer] }
            _ = try await observed.getLayoutMetadata().firstValue()
            _ = try await world.countries.callOptions { $0.observers = [] }.getLayoutMetadata().firstValue()
            _ = try await world.database.server.getProductInfo().firstValue()
        }
        expectNoDifference(common.lines, ["productInfo 0 rows, 1 attempts, fine"])
        expectNoDifference(own.lines, Array(repeating: "layoutMetadata 0 rows, 1 attempts, fine", count: 2))
    }

    @Test func aCallIsObservedInAReservedSessionToo() async throws {
        let notes = Notes()
        try await run(notes) { world in
            _ = try await world.database.withSessionPublisher { pinned in
                pinned.setGlobals(["Contacts::gFilter": "Oslo"])
                    .flatMap { _ in pinned.addLayout("Contacts").of(FieldData.self).firstRecord() }
                    .eraseToAnyPublisher()
            }
            .firstValue()
        }
        expectNoDifference(
            notes.lines,
            ["setGlobals 0 rows, 1 attempts, fine", "getRecords 1 rows, 1 attempts, fine"]
        )
    }

    // MARK: Where a call begins

    @Test func aCallBeginsWithTheTaskLocalValuesOfItsCaller() async throws {
        let notes = Notes()
        try await run(notes) { world in
            try await Caller.$name.withValue("await") {
                _ = try await world.countries.getLayoutMetadata().firstValue()
            }
            try await Caller.$name.withValue("values") {
                for try await _ in world.countries.records(FieldData.self, recordQuery: RecordQuery(limit: 2)).values {}
            }
            let subscriber = TrackingSubscriber<DataAPI.Server.ProductInfo, FMRest.APIError>()
            Caller.$name.withValue("subscribe") {
                world.database.server.getProductInfo(isolation: nil).subscribe(subscriber)
            }
            await subscriber.completion()
            try await Self.onTheMainActor(world)
            expectNoDifference(notes.ended.map(\.caller), ["await", "values", "subscribe", "main"])
        }
    }

    @MainActor private static func onTheMainActor(_ world: World) async throws {
        try await Caller.$name.withValue("main") {
            _ = try await world.countries.getLayoutMetadata().firstValue()
        }
    }

    @Test func eachPageIsACallWithItsRows() async throws {
        let notes = Notes()
        try await run(notes) { world in
            _ = try await world.database.layout(PlainContact.self).all(pageSize: 2).collect().firstValue()
        }
        expectNoDifference(
            notes.lines,
            // The second page begins with the last record of the first.
            ["getRecords 2 rows, 1 attempts, fine", "getRecords 2 rows, 1 attempts, fine"]
        )
    }

    @Test(.thorough) func aHundredCallsAtOnceKeepTheirOwn() async throws {
        let notes = Notes()
        try await run(notes) { world in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...100 {
                    group.addTask {
                        try await Caller.$name.withValue("\(number)") {
                            let query = RecordQuery(limit: number)
                            _ = try await world.countries.tagged("\(number)").getRecords(recordQuery: query)
                                .returnAs(FieldData.self).firstValue()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        expectNoDifference(notes.count, 100)
        let numbers = notes.ended.compactMap { $0.description.tag }.compactMap(Int.init)
        expectNoDifference(numbers.sorted(), Array(1...100))
        expectNoDifference(notes.ended.compactMap { $0.caller }.compactMap(Int.init), numbers)
        expectNoDifference(notes.ended.compactMap { $0.end?.rowCount }, numbers)
        expectNoDifference(notes.ended.compactMap { $0.end?.attempts }, Array(repeating: 1, count: 100))
    }

    /// A request that waits for the host's date formats is written with them, although its call begins before.
    @Test func anObservedCallIsWrittenInTheFormatsOfTheServer() async throws {
        struct Visit: Encodable {
            let day: FMDate
        }
        let notes = Notes()
        let formats =
            #""dateFormat":"dd.MM.yyyy","timeFormat":"HH:mm:ss","timeStampFormat":"dd.MM.yyyy HH:mm:ss""#
        try await ScriptedHost.run(
            client: { ($0.observers, $0.dateFormats) = ([notes.observer], .server) },
            answer: { call in
                call.target.hasSuffix("productInfo")
                    ? .json(#"{"productInfo":{"name":"FMS","buildDate":"","version":"21",\#(formats)}}"#)
                    : .json(#"{"recordId":"1","modId":"0"}"#)
            }
        ) { host in
            let day = try #require(FMDate("2024-02-29"))
            _ = try await host.layout.createRecord(Visit(day: day)).firstValue()
            expectNoDifference(host.calls.last?.text, #"{"fieldData":{"day":"29.02.2024"}}"#)
            expectNoDifference(
                notes.lines,
                ["productInfo 0 rows, 1 attempts, fine", "createRecord 0 rows, 1 attempts, fine"]
            )
        }
    }
}
