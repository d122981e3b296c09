import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// AsyncHTTPClient with futures.
struct AHCFuturesContestant: Contestant {
    let name = "ahc_futures"
    private let client: AsyncHTTPClient.HTTPClient
    private let base: String
    private let group: any EventLoopGroup

    init(base: String, group: any EventLoopGroup) {
        self.base = base
        self.group = group
        client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .shared(group), configuration: .benchmark)
    }

    func run(_ target: String, count: Int, concurrency: Int) async throws {
        let done = group.next().makePromise(of: Void.self)
        let chains = Chains(count: count, done: done)
        let request = try AsyncHTTPClient.HTTPClient.Request(
            url: base + target,
            headers: ["Accept": "application/json"]
        )
        for _ in 0..<concurrency { Self.chain(client, request, chains) }
        try await done.futureResult.get()
    }

    private static func chain(
        _ client: AsyncHTTPClient.HTTPClient,
        _ request: AsyncHTTPClient.HTTPClient.Request,
        _ chains: Chains
    ) {
        guard chains.next() else { return }
        client.execute(request: request).whenComplete { result in
            switch result {
            case .success(let response):
                precondition(response.status == .ok && (response.body?.readableBytes ?? 0) > 0)
                chains.ended()
                chain(client, request, chains)
            case .failure(let error):
                chains.ended(error)
            }
        }
    }

    func stop() async throws { try await client.shutdown() }
}

/// AsyncHTTPClient with async/await.
struct AHCAsyncContestant: Contestant {
    let name = "ahc_async"
    private let client: AsyncHTTPClient.HTTPClient
    private let base: String

    init(base: String, group: any EventLoopGroup) {
        self.base = base
        client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .shared(group), configuration: .benchmark)
    }

    func run(_ target: String, count: Int, concurrency: Int) async throws {
        let url = base + target
        try await inTasks(concurrency, count: count) { [client] share in
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "Accept", value: "application/json")
            for _ in 0..<share {
                let response = try await client.execute(request, timeout: .seconds(60))
                let body = try await response.body.collect(upTo: 64 * 1024 * 1024)
                precondition(response.status == .ok && body.readableBytes > 0)
            }
        }
    }

    func stop() async throws { try await client.shutdown() }
}

extension AsyncHTTPClient.HTTPClient.Configuration {
    static var benchmark: Self {
        var configuration = Self()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        return configuration
    }
}
