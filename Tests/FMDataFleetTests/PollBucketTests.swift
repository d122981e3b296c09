import FMData
import FMTestSupport
import Testing

@testable import FMDataFleet

/// The polls of one host that all members make.
@Suite(.needsStore, .timeLimit(.minutes(10))) struct PollBucketTests {
    @Test func theBucketHoldsWhatItMayAndFillsInTime() async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            // So few that none comes during the test.
            let bucket = PollBucket(client: client, limit: .init(perMinute: 1, burst: 3))
            for _ in 1...3 { try await bucket.turn("https://host:443") }
            // However long the test takes, no time passes for the bucket.
            let keys = try await client.send { _ in RESPCommand("KEYS", "fm:*:polls") }.elements ?? []
            let key = try #require(keys.first?.string)
            _ = try await client.send { _ in RESPCommand("HSET", key, "t", "9999999999999") }
            let asked = Task { try await bucket.turn("https://host:443") }
            // Another host has a bucket of its own.
            try await bucket.turn("https://other:443")
            asked.cancel()
            await #expect(throws: CancellationError.self) { try await asked.value }
            await client.shutdown()
        }
    }
}
