import CustomDump
import FMData
import FMTestSupport
import FMTesting
import Foundation
import OpenCombine
import Testing

/// A view model, a pipeline and a retry, with the real client and no port: as a program would test its own.
@Suite(.timeLimit(.minutes(15))) @MainActor struct ProgramTests {
    private let transport = TestTransport()
    private var people: DataAPI.TypedLayout<Contact> { transport.database().layout(Contact.self) }

    // MARK: A view model

    @MainActor
    private final class Model {
        private(set) var names: [String] = []
        private(set) var message: String?
        private let people: DataAPI.TypedLayout<Contact>
        private var subscriptions: Set<AnyCancellable> = []

        init(_ people: DataAPI.TypedLayout<Contact>) { self.people = people }

        func load() {
            people.all().map(\.name).collect()
                .sink { completion in
                    if case .failure(let error) = completion { self.message = error.fileMakerCode?.name }
                } receiveValue: { names in
                    self.names = names
                }
                .store(in: &subscriptions)
        }
    }

    @Test func aModelShowsNamesAndErrors() async {
        transport.answer(.getRecords, with: .records([Contact(name: "Ada"), Contact(name: "Grace")]), .error(9))
        let model = Model(people)
        model.load()
        while model.names.isEmpty { await Task.yield() }
        expectNoDifference(model.names, ["Ada", "Grace"])
        model.load()
        while model.message == nil { await Task.yield() }
        expectNoDifference(model.message, FileMakerErrorCode(rawValue: 9).name)
    }

    @Test(.thorough) func manyModelsTakeNoTime() async {
        for number in 0..<200 {
            let transport = TestTransport()
            transport.answer(.getRecords, with: .records([Contact(name: "\(number)")]))
            let model = Model(transport.database().layout(Contact.self))
            model.load()
            while model.names.isEmpty { await Task.yield() }
            expectNoDifference(model.names, ["\(number)"])
        }
    }

    // MARK: A pipeline

    /// Moves everybody who lives in one city to another.
    private static func move(
        _ people: DataAPI.TypedLayout<Contact>,
        from old: String,
        to new: String
    ) -> AnyPublisher<Int, FMRest.APIError> {
        people.find { $0(.city) == old }.all()
            .flatMap(maxPublishers: .max(1)) { people.edit($0.recordId, setting: [.city: new]) }
            .count()
            .eraseToAnyPublisher()
    }

    @Test func aPipelineReadsAndWrites() async throws {
        transport.answer(.findRecords, with: .records([Contact(name: "Ada"), Contact(name: "Alan")]))
        transport.alwaysAnswer(.editRecord, with: .edited(modId: 1))
        let count = try await Self.move(people, from: "London", to: "Oslo").firstValue()
        expectNoDifference(count, 2)
        let requests = transport.requests
        expectNoDifference(requests.first { $0.operation == .findRecords }?.criteria, [["City": "==London"]])
        let edits = requests.filter { $0.operation == .editRecord }
        expectNoDifference(edits.map(\.recordId), [1, 2])
        expectNoDifference(edits.map(\.fields), [["City": "Oslo"], ["City": "Oslo"]])
    }

    /// A session is free again when its answer arrives, so a call that is made with the answer needs no other one.
    @Test(arguments: [DataAPI.Delivery.background, .eventLoop])
    nonisolated func callsInAChainUseOneSession(delivery: DataAPI.Delivery) async throws {
        var config = DataAPI.Config()
        config.delivery = delivery
        for _ in 0..<20 {
            let transport = TestTransport()
            transport.answer(.findRecords, with: .records([Contact(name: "Ada")]))
            transport.alwaysAnswer(.editRecord, with: .edited(modId: 1))
            let people = transport.database(config: config).layout(Contact.self)
            let edited = people.find { $0(.name) == "Ada" }.one()
                .flatMap { people.edit($0.recordId, setting: [.city: "Oslo"]) }
                .flatMap { people.edit(1, setting: [.city: "Bergen"], modId: $0.modId) }
            _ = try await edited.firstValue()
            expectNoDifference(transport.requests.map(\.operation), [.logIn, .findRecords, .editRecord, .editRecord])
        }
    }

    /// The first edit may have arrived, so nothing else is sent and the error says so.
    @Test func aPipelineEndsWithAWriteThatIsLost() async throws {
        transport.answer(.findRecords, with: .records([Contact(name: "Ada"), Contact(name: "Alan")]))
        transport.alwaysAnswer(.editRecord, with: .failure(afterSending: .connectionClosed))
        let error = await Self.move(people.retrying(), from: "London", to: "Oslo").awaitSingleResult().error
        expectNoDifference(error?.outcomeIsUnknown, true)
        expectNoDifference(transport.requests.count { $0.operation == .editRecord }, 1)
    }

    // MARK: A retry

    @Test func aRetryWaitsForTheClock() async throws {
        transport.answer(.editRecord, with: .failure(beforeSending: .connectionRefused), .error(301), .edited(modId: 4))
        let policy = DataAPI.RetryPolicy(firstPause: .seconds(7), maximumPause: .seconds(60), jitter: 0)
        let patient = people.retrying(policy)
        async let edited: Void = patient.edit(17, setting: [.city: "Oslo"]).map { _ in () }.firstValue()
        for pause in [7, 14] {
            await transport.clock.untilTimer(in: .seconds(pause))
            transport.clock.advance(by: .seconds(pause))
        }
        try await edited
        expectNoDifference(transport.requests.count { $0.operation == .editRecord }, 3)
    }

    // MARK: Where values arrive

    /// As from a host: code that is not of the main actor gets its values in the background, so that a closure of
    /// main-actor code in the wrong place does not go unseen.
    @Test func valuesComeInTheBackgroundUnlessTheyAreToComeAtOnce() async throws {
        let transport = TestTransport()
        transport.alwaysAnswer(.getRecords, with: .records([Contact(name: "Ada")]))
        for (config, expected) in [(DataAPI.Config(), false), (.atOnce, true)] {
            let counts = TrackingSubscriber<Int, FMRest.APIError>()
            let thread = Locked<ObjectIdentifier?>(Self.currentThread())
            let isAtOnce = Locked(false)
            let layer = Layer(people: transport.database(config: config).layout(Contact.self))
            layer.count { isAtOnce.change { $0 = thread.value == Self.currentThread() } }.subscribe(counts)
            // The thread may come back later, with the value.
            thread.change { $0 = nil }
            await counts.completion()
            expectNoDifference(isAtOnce.value, expected)
        }
    }

    /// C declares that the value of `pthread_self()` never changes, so an optimised program need not ask for it again
    /// after an `await`.
    nonisolated private static func currentThread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }

    private struct Layer: Sendable {
        let people: DataAPI.TypedLayout<Contact>

        func count(_ counted: @escaping @Sendable () -> Void) -> AnyPublisher<Int, FMRest.APIError> {
            people.count().map { count in
                counted()
                return count
            }
            .eraseToAnyPublisher()
        }
    }
}
