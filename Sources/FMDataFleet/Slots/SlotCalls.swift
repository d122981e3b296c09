/// The operations of the script, as functions, with their answers read strictly.
struct SlotCalls: Sendable {
    struct Names: Sendable {
        let pool: String
        let line: String
        /// The note that the credentials were refused a short time ago.
        let refusal: String
        let channelPrefix: String

        /// - Parameter digest: names the pool; the same for equal hosts, databases and logins.
        init(digest: String) {
            // The braces keep one pool in one place of a cluster.
            pool = "fm:{\(digest)}:pool"
            line = "fm:{\(digest)}:line"
            refusal = "fm:{\(digest)}:bad"
            channelPrefix = "fm:{\(digest)}:c:"
        }

        /// The digest of a pool by the name of its hash; `nil` for another name.
        static func digest(ofPool name: String) -> String? {
            guard let match = name.wholeMatch(of: /fm:\{([0-9a-f]{32})\}:pool/) else { return nil }
            return String(match.1)
        }
    }

    struct Settings: Sendable {
        /// The number of slots. All members have to agree.
        var slots = 1
        /// How long a slot stays held without renewal, in milliseconds.
        var lease = 10_000
        /// How long nothing is granted after the store's process was another one, so that holders can say what they
        /// hold.
        var grace = 10_000
        /// How long the first login is alone, if nobody hears that it has succeeded.
        var aloneTime = 10_000
        /// How long a host that was full counts as full.
        var fullTime = 60_000
        /// How long nobody logs in when the host has no room for any session of the fleet.
        var restTime = 5_000
        /// How long credentials that were refused are not tried again, and those of an account that is locked.
        var refusalTime = 60_000
        var lockedTime = 300_000
    }

    /// The answer to a member that asks for a slot.
    enum Taken: Equatable {
        /// - Parameters:
        ///   - sealed: the slot's token; empty when there is none.
        ///   - isStray: whether the holder before died during a login.
        ///   - waiting: how many others wait.
        case slot(Int, sealed: [UInt8], isStray: Bool, waiting: Int)
        /// Ask again after so many milliseconds, at the latest.
        case wait(Int)
    }

    /// What the store knows otherwise than the member.
    enum News: Equatable {
        case lost(Int)
        case again(Int)
        /// Somebody waits for the slot; the message that said so may have been lost.
        case recalled(Int)
    }

    /// The store knows nothing of the slot, so it has lost what it knew: the member has to say first that it holds it.
    struct Forgotten: Error {}

    let client: StoreClient
    let names: Names
    let settings: Settings
    /// The name of the member.
    let me: String

    func take(_ lease: String) async throws -> Taken {
        guard let answer = try await call("take", lease, [Array("\(settings.aloneTime)".utf8)]).elements,
            answer.count == 5,
            let isGranted = answer[0].integer, let number = answer[1].integer, let waiting = answer[4].integer
        else { throw StoreError.malformed }
        if isGranted == 0 { return .wait(min(max(number, 1), 2000)) }
        guard let sealed = answer[2].bytes, let stray = answer[3].integer, (1...settings.slots).contains(number) else {
            throw StoreError.malformed
        }
        return .slot(number, sealed: sealed, isStray: stray == 1, waiting: max(0, waiting))
    }

    func keep(_ leases: [Int: String]) async throws -> [News] {
        let arguments = leases.sorted { $0.key < $1.key }.flatMap { [Array("\($0.key)".utf8), Array($0.value.utf8)] }
        guard let answer = try await call("keep", "", arguments).elements else { throw StoreError.malformed }
        return try answer.map { line in
            let words = (line.string ?? "").split(separator: " ")
            guard words.count == 2, let slot = Int(words[1]) else { throw StoreError.malformed }
            switch words[0] {
            case "lost": return .lost(slot)
            case "again": return .again(slot)
            case "recall": return .recalled(slot)
            default: throw StoreError.malformed
            }
        }
    }

    func put(_ sealed: [UInt8], slot: Int, lease: String, life: Int) async throws -> Bool {
        try await change("put", lease, slot, [sealed, Array("\(life)".utf8)])
    }

    func drop(_ sealed: [UInt8], slot: Int, lease: String) async throws -> Bool {
        try await change("drop", lease, slot, [sealed])
    }

    /// - Parameter life: how long the slot's token still lives; `nil` if nothing new is known.
    func give(slot: Int, lease: String, life: Int?) async throws -> Bool {
        try await change("give", lease, slot, [life.map { Array("\($0)".utf8) } ?? []])
    }

    func full(slot: Int, lease: String) async throws -> Bool {
        let times = [settings.fullTime, settings.restTime]
        return try await change("full", lease, slot, times.map { Array("\($0)".utf8) })
    }

    /// The code with which the credentials were refused a short time ago, 0 if the host gave none; `nil` if they were
    /// not.
    func refusal() async throws -> Int? {
        let names = names
        let answer = try await client.send { _ in RESPCommand("GET", names.refusal) }
        return answer.string.map { Int($0) ?? 0 }
    }

    /// FileMaker's 214 says that the account is locked for some minutes.
    func noteRefusal(_ code: Int) async throws {
        let names = names
        let time = code == 214 ? settings.lockedTime : settings.refusalTime
        _ = try await client.send { _ in RESPCommand("SET", names.refusal, "\(code)", "PX", "\(time)") }
    }

    private func change(_ operation: String, _ lease: String, _ slot: Int, _ more: [[UInt8]]) async throws -> Bool {
        let answer = try await call(operation, lease, [Array("\(slot)".utf8)] + more)
        switch answer.integer {
        case 0: return false
        case 1: return true
        case 2: throw Forgotten()
        default: throw StoreError.malformed
        }
    }

    private func call(_ operation: String, _ lease: String, _ more: [[UInt8]]) async throws -> RESPValue {
        let (names, settings, me) = (names, settings, me)
        return try await client.eval(.slots, keys: [names.pool, names.line]) { run in
            // A store that has been running for long had no members before, so nobody holds anything. One that hides
            // its run is always the same.
            let graceOfNewPool = run.id == "-" ? 0 : max(0, settings.grace - min(run.uptime, 3600) * 1000)
            let words = [
                operation, run.id, me, lease, "\(settings.slots)", "\(settings.lease)", "\(settings.grace)",
                "\(graceOfNewPool)", names.channelPrefix,
            ]
            return words.map { Array($0.utf8) } + more
        }
    }
}
