import FMHTTP
import NIOCore
import NIOPosix
import OpenCombine

/// This package's client, with either delivery.
struct FMHTTPContestant: Contestant {
    let name: String
    private let client: FMHTTP.HTTPClient
    private let origin: Origin
    private let group: any EventLoopGroup

    init(_ name: String, delivery: HTTPClientConfiguration.Delivery, port: Int, group: any EventLoopGroup) {
        self.name = name
        self.group = group
        origin = Origin(scheme: .http, host: "127.0.0.1", port: port)
        var configuration = HTTPClientConfiguration()
        configuration.maximumConnectionsPerOrigin = 64
        configuration.delivery = delivery
        client = FMHTTP.HTTPClient(configuration: configuration, eventLoopGroup: group)
    }

    func run(_ target: String, count: Int, concurrency: Int) async throws {
        let done = group.next().makePromise(of: Void.self)
        let chains = Chains(count: count, done: done)
        let request = HTTPRequest(
            origin: origin,
            target: target,
            headers: ["Accept": "application/json"],
            isSafeToRepeat: true
        )
        for _ in 0..<concurrency { Self.chain(client, request, chains) }
        try await done.futureResult.get()
    }

    private static func chain(_ client: FMHTTP.HTTPClient, _ request: HTTPRequest, _ chains: Chains) {
        guard chains.next() else { return }
        client.parts(request).subscribe(Next(client, request, chains))
    }

    func stop() async throws { await client.shutdown() }

    /// One link of a chain, with the simplest possible subscriber. It takes the parts as they arrive, as FMData does.
    private final class Next: Subscriber {
        private let client: FMHTTP.HTTPClient
        private let request: HTTPRequest
        private let chains: Chains
        private var status = HTTPResponseStatus.ok
        private var bodyBytes = 0

        init(_ client: FMHTTP.HTTPClient, _ request: HTTPRequest, _ chains: Chains) {
            self.client = client
            self.request = request
            self.chains = chains
        }

        func receive(subscription: any Subscription) { subscription.request(.unlimited) }

        func receive(_ part: HTTPResponsePart) -> Subscribers.Demand {
            switch part {
            case .head(let head): status = head.status
            case .body(let bytes): bodyBytes += bytes.readableBytes
            }
            return .none
        }

        func receive(completion: Subscribers.Completion<FMHTTP.HTTPClientError>) {
            switch completion {
            case .finished:
                precondition(status == .ok && bodyBytes > 0)
                chains.ended()
                FMHTTPContestant.chain(client, request, chains)
            case .failure(let error):
                chains.ended(error)
            }
        }
    }
}
