import FMData
import NIOCore
import NIOPosix
import OpenCombine

/// FMData's publishers, used like in a program.
struct FMDataContestant: APIContestant {
    typealias Response = DataAPI.RecordResponse<DecodeModels.Wide, DecodeModels.NoPortals>

    let name: String
    private let database: DataAPI.Database

    /// - Parameters:
    ///   - isCached: whether a call is answered from the cache if an equal one was answered before.
    ///   - configure: changes the configuration.
    init(
        _ name: String,
        base: String,
        delivery: DataAPI.Delivery,
        isCached: Bool = false,
        configure: (inout DataAPI.Config) -> Void = { _ in }
    ) {
        self.name = name
        var config = DataAPI.Config()
        config.delivery = delivery
        configure(&config)
        config.sessions.maximumSessions = APISuite.manyAtATime
        let database = DataAPI.Server(host: base, config: config)
            .addDatabase(CannedDataAPI.database, credentials: Credentials(user: "bench", password: "bench"))
        self.database = isCached ? database.cached(for: .seconds(3_600)) : database
    }

    private init(_ name: String, _ database: DataAPI.Database) {
        self.name = name
        self.database = database
    }

    /// The same in one session, which is leased once until `hold` is cancelled.
    func pinned(_ name: String) async throws -> (pinned: FMDataContestant, hold: AnyCancellable) {
        let pinned = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: DataAPI.Database.self)
        let hold = database.withSessionPublisher { database in
            pinned.succeed(database)
            return Empty<Never, FMRest.APIError>(completeImmediately: false).eraseToAnyPublisher()
        }
        .sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion { pinned.fail(error) }
            },
            receiveValue: { _ in }
        )
        return (FMDataContestant(name, try await pinned.futureResult.get()), hold)
    }

    var layout: DataAPI.Layout { database.addLayout(CannedDataAPI.layout) }

    func run(_ call: APICall, count: Int, concurrency: Int) async throws {
        let done = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        let chains = Chains(count: count, done: done)
        let layout = layout
        for _ in 0..<concurrency { Self.chain(layout, call, chains) }
        try await done.futureResult.get()
    }

    /// Calls that are answered at once, so that a chain of them needs no subscriber of its own.
    func runFromMemory(_ call: APICall, count: Int) throws {
        var received = 0
        for _ in 0..<count {
            _ = Self.publisher(layout, call).sink(
                receiveCompletion: { _ in },
                receiveValue: { received += $0.data.count }
            )
        }
        guard received == count * call.recordCount else {
            throw WrongRecordCount(expected: count * call.recordCount, received: received)
        }
    }

    private static func chain(_ layout: DataAPI.Layout, _ call: APICall, _ chains: Chains) {
        guard chains.next() else { return }
        publisher(layout, call).subscribe(Next(layout, call, chains))
    }

    private static func publisher(
        _ layout: DataAPI.Layout,
        _ call: APICall
    ) -> AnyPublisher<Response, FMRest.APIError> {
        switch call {
        case .record: layout.record(id: 1)
        case .thousand: layout.getRecords(recordQuery: RecordQuery(limit: call.recordCount))
        }
    }

    func stop() async throws {
        _ = try await database.server.shutdown().firstValue()
    }

    /// One link of a chain: the next call begins when the last has finished.
    private final class Next: Subscriber {
        typealias Input = Response
        typealias Failure = FMRest.APIError

        private let layout: DataAPI.Layout
        private let call: APICall
        private let chains: Chains
        private var received = 0

        init(_ layout: DataAPI.Layout, _ call: APICall, _ chains: Chains) {
            self.layout = layout
            self.call = call
            self.chains = chains
        }

        func receive(subscription: any Subscription) { subscription.request(.unlimited) }

        func receive(_ response: Response) -> Subscribers.Demand {
            received = response.data.count
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            do {
                if case .failure(let error) = completion { throw error }
                try call.check(received)
                chains.ended()
                FMDataContestant.chain(layout, call, chains)
            } catch {
                chains.ended(error)
            }
        }
    }
}
