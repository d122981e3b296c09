@testable import FMDataFleet

/// The only feed of a store, as a test sees and changes it. Leases end by the store's clock, which no test can move: it
/// says when they end.
struct StoredFeed {
    private let store: StoreServer

    init(in store: StoreServer) {
        self.store = store
    }

    /// The member that leads; `nil` if nobody does.
    func leader() async throws -> String? {
        try await withFeed { client, feed in try await client.send { _ in RESPCommand("HGET", feed, "o") }.string }
            ?? nil
    }

    /// The leader's lease ends now, and those that follow hear of it.
    func endLease() async throws {
        try await withFeed { client, feed in
            _ = try await client.send { _ in RESPCommand("HSET", feed, "u", "0") }
            _ = try await client.send { _ in RESPCommand("PUBLISH", feed, "v") }
        }
    }

    /// Everything that lies in the store, as one text.
    func everything() async throws -> String {
        try await withFeed { client, feed in
            let hash = try await client.send { _ in RESPCommand("HGETALL", feed) }
            let stream = try await client.send { _ in RESPCommand("XRANGE", feed + ":s", "-", "+") }
            return [hash, stream].map(Self.text).joined(separator: " ")
        } ?? ""
    }

    private static func text(_ value: RESPValue) -> String {
        value.elements.map { $0.map(text).joined(separator: " ") }
            ?? value.bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func withFeed<Result>(_ body: (StoreClient, String) async throws -> Result) async throws -> Result? {
        let client = StoreClient.make(at: store.address)
        let names = try await client.send { _ in RESPCommand("KEYS", "fm:*:q:*") }.elements ?? []
        var result: Result?
        if let name = names.compactMap(\.string).first(where: { FeedCalls.Names(feed: $0) != nil }) {
            result = try await body(client, name)
        }
        await client.shutdown()
        return result
    }
}
