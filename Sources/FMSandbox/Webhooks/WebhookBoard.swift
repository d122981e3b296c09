/// The webhooks of a host with their pending operations, as a value.
///
/// Each webhook has a queue that is processed in order: an operation that cannot be delivered delays all operations
/// after it.
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
        /// Whether it has been the first of its queue, and so got its fault if there was one.
        var hasHadTurn = false
        var isStuck = false
        var isGarbage = false
    }

    struct Hook: Sendable {
        var id: Int
        /// A number that is never used again, unlike the id.
        var number: Int
        var database: Int
        var occurrence: String
        /// nil if the occurrence does not exist or its file is not hosted. Such a webhook is accepted but never fires.
        var table: Int?
        var url: String
        var headers: [String: String] = [:]
        var queryHeaders: [String: String] = [:]
        var notifiesSchemaChanges = false
        var select = ""
        var filter = ""
        var maximumAttempts = 0
        var queue: [Operation] = []
        /// Whether a task is delivering the queue.
        var isWorking = false
    }

    /// The next attempt to deliver the first operation of a queue.
    struct Job: Sendable {
        var hook: Hook
        var operation: Operation
        var delay: Duration?
        /// How many times to send it.
        var copies = 1
    }

    private(set) var hooks: [Hook] = []
    /// Whether the list was requested since the start or restart.
    private var isWarm = false
    private var lastNumber = 0
    var faults: [Sandbox.WebhookFault] = []
    private(set) var deliveries: [Sandbox.WebhookDelivery] = []

    // MARK: Registration

    /// Adds a webhook. Returns its id: the lowest one that is free in its database.
    mutating func add(_ hook: Hook) -> Int {
        var hook = hook
        let taken = Set(hooks.filter { $0.database == hook.database }.map(\.id))
        // `taken` has one element less than the range, so at least one id is free.
        hook.id = (1...taken.count + 1).first { !taken.contains($0) } ?? 1
        lastNumber += 1
        hook.number = lastNumber
        hooks.append(hook)
        return hook.id
    }

    func hook(_ id: Int, in database: Int) -> Hook? { hooks.first { $0.id == id && $0.database == database } }

    /// Returns false if there is no such webhook.
    mutating func delete(_ id: Int, in database: Int) -> Bool {
        guard hook(id, in: database) != nil else { return false }
        hooks.removeAll { $0.id == id && $0.database == database }
        return true
    }

    /// The webhooks that the list shows.
    mutating func list(_ database: Int, isColdAtFirst: Bool) -> [Hook] {
        defer { isWarm = true }
        return isColdAtFirst && !isWarm ? [] : hooks.filter { $0.database == database }
    }

    /// Webhooks survive a restart, and the list is sorted again.
    mutating func restart() {
        isWarm = false
        hooks.sort { ($0.database, $0.id) < ($1.database, $1.id) }
    }

    /// Restores the initial state, except that numbers are not used again.
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

    /// Appends the changes of a commit to the queues. Returns the numbers of the webhooks whose queues no task
    /// delivers; from now on they count as being delivered.
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

    /// One operation for each kind of change. A record was changed if its modId was.
    private static func operations(from old: TableState, to new: TableState) -> [Operation] {
        let before = Dictionary(uniqueKeysWithValues: old.records.map { ($0.id, $0.modId) })
        let added = new.records.filter { before[$0.id] == nil }.map(\.id)
        let changed = new.records.filter { record in before[record.id].map { $0 != record.modId } ?? false }.map(\.id)
        let deleted = old.records.filter { new.position(of: $0.id) == nil }.map(\.id)
        let all: [(Operation.Kind, [Int])] = [(.add, added), (.update, changed), (.delete, deleted)]
        return all.filter { !$0.1.isEmpty }.map { Operation(kind: $0.0, rowIDs: $0.1) }
    }

    // MARK: Delivery

    /// The next job of a webhook; nil if there is none, which ends the delivery of its queue.
    mutating func nextJob(_ number: Int) -> Job? {
        guard let place = hooks.firstIndex(where: { $0.number == number }) else { return nil }
        guard let first = hooks[place].queue.first, prepare(place, first) else {
            hooks[place].isWorking = false
            return nil
        }
        var job = Job(hook: hooks[place], operation: hooks[place].queue[0])
        guard !first.hasHadTurn, let fault = pendingFault else { return job }
        pendingFault = nil
        switch fault.kind {
        case .drop: job.copies = 0
        case .duplicate: job.copies = 2
        case .delay(let duration): job.delay = duration
        case .swap, .stuck, .garbageBody: break
        }
        return job
    }

    /// The fault of the operation that has just become the first.
    private var pendingFault: Sandbox.WebhookFault?

    /// Assigns the next fault to the first operation of a queue. Returns false if it must wait for another operation.
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

    /// Records the outcome of sending an additional copy, which does not affect the queue.
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

    /// Records the outcome of an attempt: the receiver's status, or the reason why there is none. Returns the time to
    /// wait before the next attempt; nil if no attempt follows.
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
            // It is not known what a server does then. Removing the webhook is the worst case.
            hooks.remove(at: place)
            return nil
        }
        // 1, 2, 4 … 60 s; these values are invented.
        return .seconds(min(60, 1 << min(attempts - 1, 6)))
    }

    /// Removes the first operation, which was dropped.
    mutating func dropped(_ number: Int) {
        guard let place = hooks.firstIndex(where: { $0.number == number }), !hooks[place].queue.isEmpty else { return }
        hooks[place].queue.removeFirst()
    }
}
