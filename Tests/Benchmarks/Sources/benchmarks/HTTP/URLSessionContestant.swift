import Foundation
import NIOCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Foundation's client, with completion handlers.
struct URLSessionContestant: Contestant {
    let name = "urlsession"
    private let session: URLSession
    private let base: String
    private let group: any EventLoopGroup

    init(base: String, group: any EventLoopGroup) {
        self.base = base
        self.group = group
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 64
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    func run(_ target: String, count: Int, concurrency: Int) async throws {
        guard let url = URL(string: base + target) else { return }
        let done = group.next().makePromise(of: Void.self)
        let chains = Chains(count: count, done: done)
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        for _ in 0..<concurrency { Self.chain(session, request, chains) }
        try await done.futureResult.get()
    }

    private static func chain(_ session: URLSession, _ request: URLRequest, _ chains: Chains) {
        guard chains.next() else { return }
        let task = session.dataTask(with: request) { data, _, error in
            if let error { return chains.ended(error) }
            precondition((data?.count ?? 0) > 0)
            chains.ended()
            chain(session, request, chains)
        }
        task.resume()
    }

    func stop() async throws { session.invalidateAndCancel() }
}
