/// The operations of the script, as functions, with their answers read strictly.
struct ChangeCalls: Sendable {
    struct Names: Sendable {
        let state: String
        let stream: String
        let versions: String
        let order: String

        init(_ name: String) {
            // The braces keep all of it in one place of a cluster.
            state = "fm:{\(name)}:publisher"
            stream = "fm:{\(name)}:changes"
            versions = "fm:{\(name)}:versions"
            order = "fm:{\(name)}:ids"
        }
    }

    /// One entry of the stream.
    struct Entry: Equatable, Sendable {
        enum Kind: String, Sendable {
            case record, unreadable, gone, reset
        }

        let kind: Kind
        var id = ""
        var modId = ""
        /// What else is in it: the fields of a record, or a reason.
        let more: (name: String, value: String)

        static func == (a: Entry, b: Entry) -> Bool {
            (a.kind, a.id, a.modId, a.more.name, a.more.value) == (b.kind, b.id, b.modId, b.more.name, b.more.value)
        }
    }

    enum Leading: Equatable {
        /// - Parameter sequence: that of the last append.
        case leads(sequence: Int)
        /// Somebody else does; ask again after so many milliseconds, at the latest.
        case waits(Int)
    }

    let client: StoreClient
    let names: Names
    /// How long the publisher leads without saying so again, in milliseconds.
    let life: Int

    func lead(_ lease: String, epoch: String) async throws -> Leading {
        guard let answer = try await call("lead", lease, [epoch]).elements, answer.count == 2,
            let leads = answer[0].integer, let number = answer[1].integer
        else { throw StoreError.malformed }
        return leads == 1 ? .leads(sequence: number) : .waits(min(max(number, 1), 1000))
    }

    /// Returns whether the publisher still leads.
    func hold(_ lease: String) async throws -> Bool { try await isDone("hold", lease) }

    func resign(_ lease: String) async throws -> Bool { try await isDone("resign", lease) }

    /// Adds entries, and replaces the mark if there is one. Without an answer it can be called again.
    func append(_ entries: [Entry], mark: String?, sequence: Int, length: Int, _ lease: String) async throws -> Bool {
        let words = entries.flatMap { [$0.kind.rawValue, $0.id, $0.modId, $0.more.name, $0.more.value] }
        return try await isDone("append", lease, ["\(sequence)", "\(length)", mark ?? ""] + words)
    }

    func mark() async throws -> String? {
        let names = names
        return try await client.send { _ in RESPCommand("HGET", names.state, "m") }.string
    }

    /// Versions of published records, by rising ids: as many as asked for, unless there are no more.
    func versions(after id: Int?, limit: Int) async throws -> [(id: Int, modId: Int)] {
        var versions: [(id: Int, modId: Int)] = []
        while versions.count < limit {
            // Answers have a limit of their own.
            let count = min(limit - versions.count, 2000)
            let last = versions.last?.id ?? id
            let words = try await call("versions", "", [last.map { "\($0)" } ?? "", "\(count)"]).elements ?? []
            let numbers = words.compactMap { $0.string.flatMap(Int.init) }
            guard numbers.count == words.count, numbers.count.isMultiple(of: 2) else { throw StoreError.malformed }
            versions += stride(from: 0, to: numbers.count, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
            if numbers.count < 2 * count { break }
        }
        return versions
    }

    private func isDone(_ operation: String, _ lease: String, _ more: [String] = []) async throws -> Bool {
        switch try await call(operation, lease, more).integer {
        case 0: return false
        case 1: return true
        default: throw StoreError.malformed
        }
    }

    private func call(_ operation: String, _ lease: String, _ more: [String]) async throws -> RESPValue {
        let words = [operation, lease, "\(life)"] + more
        return try await client.eval(.changes, keys: [names.state, names.stream, names.versions, names.order]) { _ in
            words.map { Array($0.utf8) }
        }
    }
}
