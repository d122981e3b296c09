import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import FMTesting
import Foundation
import NIOCore
import OpenCombine
import Testing

/// What a client does by the clock.
@Suite(.timeLimit(.minutes(15))) struct ClientTimeTests {
    private let transport = TestTransport()
    private var clock: TestClock { transport.clock }
    private var people: DataAPI.TypedLayout<Contact> { transport.database(config: .atOnce).layout(Contact.self) }

    @Test func aCallIsRepeatedAfterItsPauses() async {
        transport.answer(.findRecords, with: .error(301), .http(503), .records([Contact(name: "Ada")]))
        let found = TrackingSubscriber<DataAPI.Record<Contact, Contact.Portals>, FMRest.APIError>()
        people.retrying(DataAPI.RetryPolicy(firstPause: .seconds(10), maximumPause: .seconds(60), jitter: 0))
            .find { $0(.name) == "Ada" }.one().subscribe(found)
        expectNoDifference(finds, 1)
        clock.advance(by: .seconds(10))
        expectNoDifference(finds, 2)
        clock.advance(by: .seconds(19))
        expectNoDifference(finds, 2)
        clock.advance(by: .seconds(1))
        await found.completion()
        expectNoDifference(found.values.map(\.name), ["Ada"])
    }

    private var finds: Int { transport.requests.count { $0.operation == .findRecords } }

    /// A pause that would end behind the call's time is not begun.
    @Test func theTimeOfACallIsThatOfTheClock() async {
        transport.alwaysAnswer(.getRecords, with: .error(301))
        let call = TrackingSubscriber<DataAPI.Record<Contact, Contact.Portals>, FMRest.APIError>()
        people.retrying(
            DataAPI.RetryPolicy(maximumAttempts: 10, firstPause: .seconds(10), maximumPause: .seconds(60), jitter: 0)
        )
        .timeouts { $0.total = .seconds(25) }.all().subscribe(call)
        clock.advance(by: .seconds(10))
        let error = await call.completion().error
        expectNoDifference(error?.fileMakerCode?.rawValue, 301)
        expectNoDifference(transport.requests.count { $0.operation == .getRecords }, 2)
    }

    @Test func aLiveQueryPolls() async throws {
        let ada = DataAPI.Record<Contact, Contact.Portals>(fieldData: Contact(name: "Ada"), recordId: 1, modId: 0)
        var changed = ada
        changed.fieldData.city = "Oslo"
        changed.modId = 1
        transport.alwaysAnswer(.getRecords, with: .records([ada]))
        let values = TrackingSubscriber<DataAPI.LiveValue<Contact>, FMRest.APIError>()
        people.live(DataAPI.LiveOptions(watch: .reread, every: .seconds(5) ... .seconds(5))).subscribe(values)
        await values.valueCount(atLeast: 1)
        expectNoDifference(values.values.map { $0.records.map(\.city) }, [[""]])
        transport.alwaysAnswer(.getRecords, with: .records([changed]))
        // A tenth of the pause is random.
        let pauses = Duration.milliseconds(4_500) ... .milliseconds(5_500)
        await clock.untilTimers { $0.contains(where: pauses.contains) }
        clock.advance(by: pauses.upperBound)
        await values.valueCount(atLeast: 2)
        expectNoDifference(values.values.last.map { $0.records.map(\.city) }, ["Oslo"])
        values.cancel()
    }

    @Test func anIdleSessionEnds() async throws {
        transport.alwaysAnswer(.getRecords, with: .records([Contact(name: "Ada")]))
        let people = people
        _ = try await people.count().firstValue()
        expectNoDifference(people.layout.database.sessionStatus.isActive(at: clock.date), true)
        clock.advance(by: .seconds(15 * 60))
        expectNoDifference(people.layout.database.sessionStatus.isActive(at: clock.date), false)
        _ = try await people.count().firstValue()
        expectNoDifference(transport.requests.count { $0.operation == .logIn }, 2)
    }

    @Test func aCachedAnswerGrowsOld() async throws {
        transport.alwaysAnswer(.getRecords, with: .records([Contact(name: "Ada")]))
        let people = people.cached(for: .seconds(60))
        for pause in [0, 59, 2] {
            clock.advance(by: .seconds(pause))
            _ = try await people.count().firstValue()
        }
        expectNoDifference(transport.requests.count { $0.operation == .getRecords }, 2)
    }

    @Test func theWaitForASessionEnds() async {
        transport.answer(.getRecords, with: .never)
        var config = DataAPI.Config.atOnce
        config.sessions.maximumSessions = 1
        config.sessions.waitingDeadline = .seconds(20)
        config.timeouts.firstByte = .seconds(100)
        let people = transport.database(config: config).layout(Contact.self)
        let (first, second) = (Calls(), Calls())
        people.count().subscribe(first)
        people.count().subscribe(second)
        clock.advance(by: .seconds(19))
        #expect(second.completionIfAny == nil)
        clock.advance(by: .seconds(1))
        let error = await second.completion().error
        expectNoDifference(error?.code, .timeout)
        expectNoDifference(transport.requests.count { $0.operation == .getRecords }, 1)
        first.cancel()
    }

    private typealias Calls = TrackingSubscriber<Int, FMRest.APIError>

    @Test func aMiddlewareWaits() async {
        transport.alwaysAnswer(.getRecords, with: .records([Contact(name: "Ada")]))
        var config = DataAPI.Config.atOnce
        config.middleware = [
            DataAPI.Middleware { [clock] request, next in
                guard request.operation == .getRecords else { return next(request) }
                return next(request).delay(for: .seconds(2), scheduler: clock).eraseToAnyPublisher()
            }
        ]
        let counts = Calls()
        transport.database(config: config).layout(Contact.self).count().subscribe(counts)
        clock.advance(by: .milliseconds(1_999))
        expectNoDifference(counts.values, [])
        clock.advance(by: .milliseconds(1))
        await counts.completion()
        expectNoDifference(counts.values, [1])
    }

    @Test func aServerOverTheNetworkHasTheClockToo() async throws {
        try await World.run { world in
            let clock = TestClock()
            let database = DataAPI.Server(host: world.sandbox.url, config: .patient, clock: clock)
                .addDatabase("World", credentials: Credentials(user: "admin", password: "secret"))
            let zones = database.cached(for: .seconds(60)).addLayout("Zones")
            for pause in [0, 59, 2] {
                clock.advance(by: .seconds(pause))
                _ = try await zones.getRecords().returnAs(FieldData.self).firstValue()
            }
            expectNoDifference(world.sandbox.counters.requests[.getRecords], 2)
            _ = await database.server.shutdown().awaitSingleResult()
        }
    }
}
