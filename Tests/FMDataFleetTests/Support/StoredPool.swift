import Testing

@testable import FMDataFleet

/// The only pool of a store, as a test sees and changes it. Leases and times of grace end by the store's clock, which
/// no test can move: it changes when they end.
struct StoredPool {
    private let store: StoreServer

    init(in store: StoreServer) {
        self.store = store
    }

    /// The fields of the hash; none if there is no pool.
    func fields() async throws -> [String: String] {
        try await withPool { client, pool in
            let parts = try await client.send { _ in RESPCommand("HGETALL", pool) }.elements ?? []
            let pairs = stride(from: 0, to: parts.count - 1, by: 2).map { index in
                (parts[index].string ?? "", parts[index + 1].bytes.map { String(decoding: $0, as: UTF8.self) } ?? "")
            }
            return Dictionary(pairs) { first, _ in first }
        } ?? [:]
    }

    /// Waits until the hash has this field.
    func untilThere(_ field: String) async throws {
        while try await fields()[field] == nil, !Task.isCancelled {}
    }

    /// The numbers of the slots that are held or offered.
    func held() async throws -> Set<Int> {
        Set(try await fields().keys.filter { $0.hasPrefix("l") }.compactMap { Int($0.dropFirst()) })
    }

    /// Waits until no slot is held.
    func untilNothingIsHeld() async throws {
        while try await !held().isEmpty, !Task.isCancelled {}
    }

    /// The lease ends now, if it is not renewed.
    func endLease(of slot: Int) async throws { try await set("u\(slot)", 0) }

    /// The slot was granted so many milliseconds earlier.
    func age(_ slot: Int, by milliseconds: Int) async throws {
        let granted = try #require(try await fields()["g\(slot)"].flatMap { Int($0) })
        try await set("g\(slot)", granted - milliseconds)
    }

    /// Whoever holds a slot has had time to say so.
    func endGrace() async throws { try await set("shut", 0) }

    private func set(_ field: String, _ value: Int) async throws {
        let isDone: Void? = try await withPool { client, pool in
            _ = try await client.send { _ in RESPCommand("HSET", pool, field, "\(value)") }
        }
        try #require(isDone != nil, "there is no pool")
    }

    private func withPool<Result>(_ body: (StoreClient, String) async throws -> Result) async throws -> Result? {
        let client = StoreClient.make(at: store.address)
        let names = try await client.send { _ in RESPCommand("KEYS", "fm:*:pool") }.elements ?? []
        var result: Result?
        if let name = names.first?.string { result = try await body(client, name) }
        await client.shutdown()
        return result
    }
}
