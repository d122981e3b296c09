import NIOCore

extension FleetStatus {
    /// Reads the status of all pools of a store, over a connection of its own. An account with these rights is enough:
    /// `~fm:* +hello +ping +info +client|setname +scan +time +hgetall +zrange +get`.
    ///
    /// Throws a ``StoreError``; ``StoreError/Code/unreachable`` if there is no connection within five seconds,
    /// or no answer within ten.
    public static func read(from store: StoreAddress) async throws -> FleetStatus {
        try await read(from: store, times: StoreClient.Times(answer: .seconds(10), connection: .seconds(5)))
    }

    static func read(from store: StoreAddress, times: StoreClient.Times) async throws -> FleetStatus {
        let client = StoreClient(
            address: store,
            name: "fmdata-status",
            times: times,
            logger: nil,
            observer: StoreClient.Observer()
        )
        let status: Result<FleetStatus, any Error>
        do {
            let digests = try await client.names(matching: "fm:*:pool").compactMap(SlotCalls.Names.digest(ofPool:))
            status = .success(try await FleetStatus(of: Set(digests), client))
        } catch {
            status = .failure(error)
        }
        await client.shutdown()
        return try status.get()
    }

    /// Pools that the store does not have are left out.
    init(of digests: Set<String>, _ client: StoreClient) async throws {
        pools = []
        for digest in digests.sorted() {
            if let pool = try await client.pool(digest) { pools.append(pool) }
        }
    }
}

extension StoreClient {
    /// The names of the store's keys that match a pattern.
    fileprivate func names(matching pattern: String) async throws -> Set<String> {
        var names: Set<String> = []
        var cursor = "0"
        repeat {
            let position = cursor
            let answer = try await send { _ in RESPCommand("SCAN", position, "MATCH", pattern, "COUNT", "1000") }
            guard let parts = answer.elements, parts.count == 2, let next = parts[0].string,
                let keys = parts[1].elements
            else { throw StoreError.malformed }
            names.formUnion(keys.compactMap(\.string))
            cursor = next
        } while cursor != "0"
        return names
    }

    /// The store's time in milliseconds.
    private func now() async throws -> Int {
        guard let clock = try await send({ _ in RESPCommand("TIME") }).elements, clock.count == 2,
            let seconds = clock[0].string.flatMap(Int.init), let microseconds = clock[1].string.flatMap(Int.init),
            (0...1 << 40).contains(seconds)
        else { throw StoreError.malformed }
        return seconds * 1000 + microseconds / 1000
    }

    /// The fields of a hash; none if it is not there.
    private func fields(_ name: String) async throws -> [String: String] {
        guard let parts = try await send({ _ in RESPCommand("HGETALL", name) }).elements else {
            throw StoreError.malformed
        }
        let pairs = stride(from: 0, to: parts.count - 1, by: 2).map { index in
            // What is sealed is no text, and is not shown.
            (parts[index].string ?? "", parts[index + 1].string ?? "")
        }
        return Dictionary(pairs) { first, _ in first }
    }

    fileprivate func pool(_ digest: String) async throws -> FleetStatus.Pool? {
        let names = SlotCalls.Names(digest: digest)
        async let time = now()
        async let hash = fields(names.pool)
        async let line = send { _ in RESPCommand("ZRANGE", names.line, "0", "-1") }
        async let refusal = send { _ in RESPCommand("GET", names.refusal) }
        let fields = try await hash
        guard let members = try await line.elements else { throw StoreError.malformed }
        let pool = FleetStatus.Pool(
            name: digest,
            fields: fields,
            line: members.compactMap(\.string),
            refusal: try await refusal.string,
            now: try await time
        )
        return fields.isEmpty ? nil : pool
    }
}
