import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// AsyncHTTPClient by async/await and Foundation's JSONDecoder, on the client's own threads.
struct AHCJSONContestant: APIContestant {
    let name = "ahc_json"
    let base: String
    private let client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .singleton, configuration: .benchmark)

    init(base: String) { self.base = base }

    func run(_ call: APICall, count: Int, concurrency: Int) async throws {
        try await inTasks(concurrency, count: count) { [client, base] share in
            let decoder = JSONDecoder()
            var request = HTTPClientRequest(url: base + call.target)
            request.headers.add(name: "Accept", value: "application/json")
            request.headers.add(name: "Authorization", value: "Bearer \(CannedDataAPI.token)")
            for _ in 0..<share {
                let response = try await client.execute(request, timeout: .seconds(60))
                let body = try await response.body.collect(upTo: 64 * 1024 * 1024)
                let answer = try decoder.decode(PlainAnswer.self, from: body)
                try call.check(answer.response.data.count)
            }
        }
    }

    func stop() async throws { try await client.shutdown() }
}

/// AsyncHTTPClient with futures, which cost less for one request at a time, and Foundation's JSONDecoder on the event
/// loop.
struct AHCFuturesJSONContestant: APIContestant {
    let name = "ahc_futures_json"
    let base: String
    private let client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .singleton, configuration: .benchmark)

    init(base: String) { self.base = base }

    func run(_ call: APICall, count: Int, concurrency: Int) async throws {
        let request = try AsyncHTTPClient.HTTPClient.Request(
            url: base + call.target,
            headers: ["Accept": "application/json", "Authorization": "Bearer \(CannedDataAPI.token)"]
        )
        let done = client.eventLoopGroup.next().makePromise(of: Void.self)
        let chains = Chains(count: count, done: done)
        for _ in 0..<concurrency { Self.chain(client, request, call, chains) }
        try await done.futureResult.get()
    }

    private static func chain(
        _ client: AsyncHTTPClient.HTTPClient,
        _ request: AsyncHTTPClient.HTTPClient.Request,
        _ call: APICall,
        _ chains: Chains
    ) {
        guard chains.next() else { return }
        client.execute(request: request).whenComplete { result in
            do {
                let body = try result.get().body ?? ByteBuffer()
                let answer = try JSONDecoder().decode(PlainAnswer.self, from: body)
                try call.check(answer.response.data.count)
                chains.ended()
                chain(client, request, call, chains)
            } catch {
                chains.ended(error)
            }
        }
    }

    func stop() async throws { try await client.shutdown() }
}

/// URLSession by async/await and Foundation's JSONDecoder.
struct URLSessionJSONContestant: APIContestant {
    let name = "urlsession_json"
    let base: String
    private let session: URLSession

    init(base: String) {
        self.base = base
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 64
        session = URLSession(configuration: configuration)
    }

    func run(_ call: APICall, count: Int, concurrency: Int) async throws {
        guard let url = URL(string: base + call.target) else { throw URLError(.badURL) }
        try await inTasks(concurrency, count: count) { [session] share in
            let decoder = JSONDecoder()
            var request = URLRequest(url: url)
            request.setValue("application/json", forHTTPHeaderField: "Accept")
            request.setValue("Bearer \(CannedDataAPI.token)", forHTTPHeaderField: "Authorization")
            for _ in 0..<share {
                let (body, _) = try await session.data(for: request)
                let answer = try decoder.decode(PlainAnswer.self, from: body)
                try call.check(answer.response.data.count)
            }
        }
    }

    func stop() async throws { session.invalidateAndCancel() }
}
