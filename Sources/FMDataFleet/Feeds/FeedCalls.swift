/// The operations of the script, as functions, with their answers read strictly.
struct FeedCalls: Sendable {
    struct Names: Hashable, Sendable {
        /// 32 hexadecimal digits each.
        let login: String
        let query: String
        /// The hash, which also names the channel.
        let feed: String
        let stream: String
        let members: String

        /// - Parameters:
        ///   - login: a digest of the host, the database and the login.
        ///   - query: a digest of the query.
        init(login: String, query: String) {
            self.login = String(login.prefix(32))
            self.query = String(query.prefix(32))
            // The braces keep one feed in one place of a cluster, together with the slots of its login.
            feed = "fm:{\(self.login)}:q:\(self.query)"
            stream = feed + ":s"
            members = feed + ":m"
        }

        var channel: String { feed }

        /// The names of a feed by that of its hash; `nil` for another name.
        init?(feed: String) {
            guard let match = feed.wholeMatch(of: /fm:\{([0-9a-f]{32})\}:q:([0-9a-f]{32})/) else { return nil }
            self.init(login: String(match.1), query: String(match.2))
        }
    }

    struct Settings: Sendable {
        /// How long a member leads without saying so again, in milliseconds.
        var lease = 10_000
        /// How many bytes of entries are read at once, about.
        var readBytes = 1 << 20
    }

    /// The answer to a member that wants to lead.
    struct Led: Equatable {
        var leads: Bool
        /// How long somebody else leads if it says nothing more, in milliseconds.
        var left = 0
        var epoch: String
        var position: Position
        /// How many members there are.
        var members = 1
    }

    /// How far a feed has come.
    struct Position: Equatable, Sendable {
        /// That of the last entry.
        var sequence = 0
        /// The number of the last poll.
        var polls = 0
    }

    struct Entry: Equatable {
        let sequence: Int
        /// The number of the poll that has found it.
        let poll: Int
        let data: [UInt8]
    }

    struct Read: Equatable {
        var position: Position
        /// Of the records after the last poll; empty if there was none.
        var digest: String
        /// How long ago the last poll began, in milliseconds.
        var age = 0
        var entries: [Entry] = []
    }

    let client: StoreClient
    let names: Names
    let settings: Settings
    /// The name of the member.
    let me: String
    /// The name of its lease, whenever it leads.
    let lease: String

    func lead(epoch: String) async throws -> Led {
        guard let answer = try await call("lead", [epoch]).elements, answer.count == 6,
            let leads = answer[0].integer, let left = answer[1].integer, let sequence = answer[3].integer,
            let polls = answer[4].integer, let members = answer[5].integer
        else { throw StoreError.malformed }
        return Led(
            leads: leads == 1,
            left: min(max(left, 1), settings.lease),
            epoch: answer[2].string ?? "",
            position: Position(sequence: sequence, polls: polls),
            members: max(1, members)
        )
    }

    /// Entries after a sequence; `nil` if the epoch is another one.
    func read(epoch: String, after sequence: Int) async throws -> Read? {
        guard let answer = try await call("read", [epoch, "\(sequence)", "\(settings.readBytes)"]).elements else {
            throw StoreError.malformed
        }
        if answer.isEmpty { return nil }
        guard answer.count >= 4, (answer.count - 4).isMultiple(of: 3), let sequence = answer[0].integer,
            let polls = answer[1].integer, let digest = answer[2].string, let age = answer[3].integer
        else { throw StoreError.malformed }
        let entries = try stride(from: 4, to: answer.count, by: 3).map { place in
            guard let number = answer[place].integer, let poll = answer[place + 1].integer,
                let data = answer[place + 2].bytes
            else { throw StoreError.malformed }
            return Entry(sequence: number, poll: poll, data: data)
        }
        return Read(
            position: Position(sequence: sequence, polls: polls),
            digest: digest,
            age: max(0, age),
            entries: entries
        )
    }

    /// Adds an entry; `nil` when somebody else leads. An entry that was added by a call without an answer is added
    /// once.
    func append(
        epoch: String,
        sequence: Int,
        duration: Int,
        digest: String,
        _ data: [UInt8]
    ) async throws -> Position? {
        try await position("append", [epoch, "\(sequence)", "\(duration)", digest].map { Array($0.utf8) } + [data])
    }

    /// Notes a poll that has found nothing; `nil` when somebody else leads.
    func beat(epoch: String, duration: Int, digest: String) async throws -> Position? {
        try await position("beat", [epoch, "\(duration)", digest].map { Array($0.utf8) })
    }

    /// `nil` when somebody else leads.
    func hold() async throws -> Position? { try await position("hold") }

    func resign() async throws { _ = try await call("resign") }

    /// Asks whoever leads for a poll.
    func hint() async throws {
        let channel = names.channel
        _ = try await client.send { _ in RESPCommand("PUBLISH", channel, "w") }
    }

    private func position(_ operation: String, _ more: [[UInt8]] = []) async throws -> Position? {
        guard let answer = try await call(operation, bytes: more).elements else { throw StoreError.malformed }
        if answer.isEmpty { return nil }
        guard answer.count == 2, let sequence = answer[0].integer, let polls = answer[1].integer else {
            throw StoreError.malformed
        }
        return Position(sequence: sequence, polls: polls)
    }

    private func call(_ operation: String, _ more: [String]) async throws -> RESPValue {
        try await call(operation, bytes: more.map { Array($0.utf8) })
    }

    private func call(_ operation: String, bytes more: [[UInt8]] = []) async throws -> RESPValue {
        let words = [operation, me, lease, "\(settings.lease)", names.channel].map { Array($0.utf8) } + more
        return try await client.eval(.feeds, keys: [names.feed, names.stream, names.members]) { _ in words }
    }
}
