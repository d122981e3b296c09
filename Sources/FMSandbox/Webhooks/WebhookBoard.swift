/// The webhooks of a host and what each has yet to deliver, as a value.
///
/// Each has a queue that is worked in order: what cannot be delivered holds up all that is behind it.
///
/// Source: Claris OData guide, "Webhooks"; recorded behaviour of FileMaker Server 22.0.4.
struct WebhookBoard: Sendable {
    struct Operation: Sendable {
        enum Kind: String, Sendable {
            case add = "ADD"
            case update = "UPDATE"
            case delete = "DELETE"
        }

        var kind: Kind
        var rowIDs: [Int]
        var attempts = 0
        var errorCode = 0
        var errorMessage = ""
        /// Its turn had come, so it has met its fault if there was one.
        var hasHadTurn = false
        var isStuck = false
        var isGarbage = false
    }

    struct Hook: Sendable {
        var id: Int
        /// Never given twice, as the id is.
        var number: Int
        var database: Int
        var occurrence: String
        /// nil for an occurrence that is not there, or whose file is not hosted: it was accepted, and never fires.
        var table: Int?
        var url: String
        var headers: [String: String] = [:]
        var queryHeaders: [String: String] = [:]
        var notifiesSchemaChanges = false
        var select = ""
        var filter = ""
        var maximumAttempts = 0
        var queue: [Operation] = []
        /// Somebody is delivering what is in the queue.
        var isWorking = false
    }

    /// What to do about the first operation of a queue.
    struct Job: Sendable {
        var hook: Hook
        var operation: Operation
        var delay: Duration?
        /// How often to send it.
        var copies = 1
    }

    private(set) var hooks: [Hook] = []
    /// The list was asked for since the start.
    private var isWarm = false
    private var lastNumber = 0
    var faults: [Sandbox.WebhookFault] = []
    private(set) var deliveries: [Sandbox.WebhookDelivery] = []

    // MARK: Registration

    /// Adds a hook, and returns its id: the lowest that is free in its database.
    mutating func add(_ hook: Hook) -> Int {
        var hook = hook
        let taken = Set(hooks.filter { $0.database == hook.database }.map(\.id))
        // Of so many and one more, one is free.
        hook.id = (1...taken.count + 1).first { !taken.contains($0) } ?? 1
        lastNumber += 1
        hook.number = lastNumber
        hooks.append(hook)
        return hook.id
    }

    func hook(_ id: Int, in database: Int) -> Hook? { hooks.first { $0.id == id && $0.database == database } }

    /// False when there is no such hook.
    mutating func delete(_ id: Int, in database: Int) -> Bool {
        guard hook(id, in: database) != nil else { return false }
        hooks.removeAll { $0.id == id && $0.database == database }
        return true
    }

    /// What the list shows.
    mutating func list(_ database: Int, isColdAtFirst: Bool) -> [Hook] {
        defer { isWarm = true }
        return isColdAtFirst && !isWarm ? [] : hooks.filter { $0.database == database }
    }

    /// Hooks survive it, and the list is in order again.
    mutating func restart() {
        isWarm = false
        hooks.sort { ($0.database, $0.id) < ($1.database, $1.id) }
    }

    /// As at the start, but no number is given again.
    mutating func reset() {
        let number = lastNumber
        self = WebhookBoard()
        lastNumber = number
    }

    mutating func clearFaults() {
        faults = []
        for hook in hooks.indices {
            for place in hooks[hook].queue.indices { hooks[hook].queue[place].isStuck = false }
        }
    }

    // MARK: Operations

    /// Puts what a commit has done to records behind what waits. Returns the numbers of the hooks whose queues nobody works on; they
    /// count as being worked on from then on.
    mutating func committed(from old: World, to new: World) -> [Int] {
        guard !hooks.isEmpty else { return [] }
        var changes: [Int: [Operation]] = [:]
        for table in Set(hooks.compactMap(\.table)) {
            changes[table] = Self.operations(from: old.tables[table], to: new.tables[table])
        }
        return append(changes)
    }

    mutating func truncated(_ table: Int) -> [Int] { append([table: [Operation(kind: .delete, rowIDs: [-1])]]) }

    private mutating func append(_ changes: [Int: [Operation]]) -> [Int] {
        var idle: [Int] = []
        for place in hooks.indices {
            guard let operations = hooks[place].table.flatMap({ changes[$0] }), !operations.isEmpty else { continue }
            hooks[place].queue += operations
            guard !hooks[place].isWorking else { continue }
            hooks[place].isWorking = true
            idle.append(hooks[place].number)
        }
        return idle
    }

    /// One for each kind of thing that was done. A record was changed when its modId was.
    private static func operations(from old: TableState, to new: TableState) -> [Operation] {
        let before = Dictionary(uniqueKeysWithValues: old.records.map { ($0.id, $0.modId) })
        let added = new.records.filter { before[$0.id] == nil }.map(\.id)
        let changed = new.records.filter { record in before[record.id].map { $0 != record.modId } ?? false }.map(\.id)
        let deleted = old.records.filter { new.position(of: $0.id) == nil }.map(\.id)
        let all: [(Operation.Kind, [Int])] = [(.add, added), (.update, changed), (.delete, deleted)]
        return all.filter { !$0.1.isEmpty }.map { Operation(kind: $0.0, rowIDs: $0.1) }
    }

    // MARK: Delivery

    /// What to do next for a hook; nil when there is nothing, and nobody works on its queue then.
    mutating func nextJob(_ number: Int) -> Job? {
        guard let place = hooks.firstIndex(where: { $0.number == number }) else { return nil }
        guard let first = hooks[place].queue.first, prepare(place, first) else {
            hooks[place].isWorking = false
            return nil
        }
        var job = Job(hook: hooks[place], operation: hooks[place].queue[0])
        guard !first.hasHadTurn, let fault = pendingFault else { return job }
        pendingFault = nil
        switch fault {
        case .drop: job.copies = 0
        case .duplicate: job.copies = 2
        case .delay(let duration): job.delay = duration
        case .swap, .stuck, .garbageBody: break
        }
        return job
    }

    /// The fault of the operation whose turn has just come.
    private var pendingFault: Sandbox.WebhookFault?

    /// Gives the first operation of a queue its turn, and its fault. False when it has to wait for another.
    private mutating func prepare(_ place: Int, _ first: Operation) -> Bool {
        guard !first.hasHadTurn else { return true }
        if faults.first == .swap {
            guard hooks[place].queue.count >= 2 else { return false }
            hooks[place].queue.swapAt(0, 1)
            hooks[place].queue[1].hasHadTurn = true
        }
        hooks[place].queue[0].hasHadTurn = true
        pendingFault = faults.isEmpty ? nil : faults.removeFirst()
        if pendingFault == .stuck { hooks[place].queue[0].isStuck = true }
        if pendingFault == .garbageBody { hooks[place].queue[0].isGarbage = true }
        return true
    }

    /// Takes in what an attempt came to that is one too many, so it decides nothing.
    mutating func sentCopy(of job: Job, _ outcome: Result<Int, FileMakerError>) {
        deliveries.append(Self.delivery(job.hook.id, job.operation, outcome))
    }

    private static func delivery(
        _ id: Int,
        _ operation: Operation,
        _ outcome: Result<Int, FileMakerError>
    ) -> Sandbox.WebhookDelivery {
        Sandbox.WebhookDelivery(
            webhookID: id,
            operation: operation.kind.rawValue,
            rowIDs: operation.rowIDs,
            status: try? outcome.get()
        )
    }

    /// Takes in what an attempt came to: a status of the receiver, or why there is none. Returns how long to wait before the next
    /// attempt; nil when there is none.
    mutating func attempted(
        _ number: Int,
        _ operation: Operation,
        _ outcome: Result<Int, FileMakerError>
    ) -> Duration? {
        guard let place = hooks.firstIndex(where: { $0.number == number }), !hooks[place].queue.isEmpty else {
            return nil
        }
        deliveries.append(Self.delivery(hooks[place].id, operation, outcome))
        hooks[place].queue[0].attempts += 1
        let attempts = hooks[place].queue[0].attempts
        switch outcome {
        case .success(let status) where (200..<300).contains(status):
            hooks[place].queue.removeFirst()
            return nil
        case .success(let status):
            hooks[place].queue[0].errorCode = 1631
            hooks[place].queue[0].errorMessage = "The receiver answered \(status)"
        case .failure(let error):
            hooks[place].queue[0].errorCode = error.code
            hooks[place].queue[0].errorMessage = error.message
        }
        if hooks[place].maximumAttempts > 0, attempts >= hooks[place].maximumAttempts {
            // What a server does then is not known; that the hook is gone is the worst.
            hooks.remove(at: place)
            return nil
        }
        // 1, 2, 4 … 60 s, which is invented.
        return .seconds(min(60, 1 << min(attempts - 1, 6)))
    }

    /// The first operation was dropped.
    mutating func dropped(_ number: Int) {
        guard let place = hooks.firstIndex(where: { $0.number == number }), !hooks[place].queue.isEmpty else { return }
        hooks[place].queue.removeFirst()
    }
}
