import FMData

/// The polls of one host that all members make: a bucket of tokens in the store.
struct PollBucket: Sendable {
    let client: StoreClient
    let limit: DataAPI.PollRateLimit

    /// Returns when a poll may begin.
    func turn(_ host: String) async throws {
        let key = "fm:{\(DigestText([host]).digest.prefix(16).map(\.twoDigits).joined())}:polls"
        while true {
            let wait = try await ask(key)
            if wait == 0 { return }
            // A tenth more or less, so that members do not ask in step.
            try await Task.sleep(for: .milliseconds(Double(min(wait, 1000)) * Double.random(in: 0.9...1.1)))
        }
    }

    /// How long to wait before asking again, in milliseconds; 0 if a poll may begin.
    private func ask(_ key: String) async throws -> Int {
        let words = ["\(max(1, limit.perMinute))", "\(max(1, limit.burst))"].map { Array($0.utf8) }
        guard let wait = try await client.eval(.polls, keys: [key], { _ in words }).integer else {
            throw StoreError.malformed
        }
        return max(0, wait)
    }
}

extension UInt8 {
    fileprivate var twoDigits: String { (self < 16 ? "0" : "") + String(self, radix: 16) }
}

extension StoreScript {
    /// A bucket of tokens.
    ///
    /// Keys: its hash. Arguments: 1 how many tokens come in a minute, 2 how many it holds. Returns 0 if there was a
    /// token, else the milliseconds until there is one. Fields of the hash: `n` tokens at the time `t`.
    static let polls = StoreScript(
        text: #"""
            local t = redis.call('TIME')
            local now = t[1] * 1000 + math.floor(t[2] / 1000)
            local h = redis.call('HMGET', KEYS[1], 'n', 't')
            local rate, burst = tonumber(ARGV[1]) / 60000, tonumber(ARGV[2])
            local tokens = math.min(burst, tonumber(h[1] or burst) + math.max(0, now - tonumber(h[2] or now)) * rate)
            if tokens < 1 then return math.ceil((1 - tokens) / rate) end
            redis.call('HSET', KEYS[1], 'n', tokens - 1, 't', string.format('%.0f', now))
            redis.call('PEXPIRE', KEYS[1], 3600000)
            return 0
            """#,
        hash: "bbd47506cd99e2e7747f92a37a3b7e7e16fe64c3"
    )
}
