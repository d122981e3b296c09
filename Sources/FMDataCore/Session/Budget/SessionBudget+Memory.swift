import NIOConcurrencyHelpers

extension DataAPI.SessionBudget {
    /// A budget in memory, for the databases of one process that have the same login, and for tests.
    ///
    /// - Parameter slots: the number of slots for each login; less than 1 counts as 1.
    public static func memory(slots: Int) -> DataAPI.SessionBudget {
        let budget = MemoryBudget(slots: max(1, slots))
        return DataAPI.SessionBudget(
            take: { request in
                let ticket = MemoryBudget.Ticket()
                return try await withTaskCancellationHandler {
                    try await withCheckedThrowingContinuation { budget.take(request, ticket, $0) }
                } onCancel: {
                    budget.withdraw(request, ticket)
                }
            },
            put: { token, slot, _ in budget.change(slot) { $0.token = token } },
            drop: { token, slot in budget.change(slot) { if $0.token == token { $0.token = nil } } },
            give: { slot, _ in budget.give(slot) },
            full: { slot in budget.give(slot) },
            refused: { slot, _ in budget.give(slot) }
        )
    }
}

/// See ``DataAPI/SessionBudget/memory(slots:)``. Nobody's lease ends by itself, since no holder can die alone.
private final class MemoryBudget: Sendable {
    typealias Request = DataAPI.SessionBudget.Request
    typealias Slot = DataAPI.SessionBudget.Slot

    /// Names one call of `take`.
    final class Ticket: Sendable {
        /// Whether its task was cancelled before it stood in the line.
        fileprivate let isCancelled = NIOLockedValueBox(false)
    }

    struct Place {
        var token: String?
        fileprivate var lease: Int?
        fileprivate var request: Request?
        fileprivate var isRecalled = false
    }

    fileprivate struct Waiter {
        let request: Request
        let ticket: Ticket
        let continuation: CheckedContinuation<Slot, any Error>
    }

    fileprivate struct Pool {
        var places: [Place]
        var line: [Waiter] = []
    }

    private struct State {
        var pools: [DataAPI.TokenStore.Key: Pool] = [:]
        var lastLease = 0
    }

    private let slots: Int
    private let state = NIOLockedValueBox(State())

    init(slots: Int) {
        self.slots = slots
    }

    func take(_ request: Request, _ ticket: Ticket, _ continuation: CheckedContinuation<Slot, any Error>) {
        let (isCancelled, notices) = change(request) { pool in
            if ticket.isCancelled.withLockedValue({ $0 }) { return true }
            pool.line.append(Waiter(request: request, ticket: ticket, continuation: continuation))
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        for notice in notices { notice() }
    }

    func withdraw(_ request: Request, _ ticket: Ticket) {
        let (waiter, notices) = change(request) { pool -> Waiter? in
            guard let place = pool.line.firstIndex(where: { $0.ticket === ticket }) else {
                ticket.isCancelled.withLockedValue { $0 = true }
                return nil
            }
            return pool.line.remove(at: place)
        }
        waiter?.continuation.resume(throwing: CancellationError())
        for notice in notices { notice() }
    }

    func give(_ slot: Slot) {
        _ = change(slot) { place in
            place.lease = nil
            place.request = nil
            place.isRecalled = false
        }
    }

    /// Changes the slot if it is still held, and returns whether it is.
    func change(_ slot: Slot, _ change: (inout Place) -> Void) -> Bool {
        let (isHeld, notices) = self.change(slot.request) { pool in
            let index = slot.number - 1
            guard pool.places.indices.contains(index), pool.places[index].lease.map(String.init) == slot.lease else {
                return false
            }
            change(&pool.places[index])
            return true
        }
        for notice in notices { notice() }
        return isHeld
    }

    /// Changes a pool, and grants what is free to those who wait. The caller has to call the notices, without the lock.
    private func change<Result>(
        _ request: Request,
        _ change: (inout Pool) -> Result
    ) -> (Result, notices: [@Sendable () -> Void]) {
        state.withLockedValue { state in
            var pool = state.pools[request.key] ?? Pool(places: Array(repeating: Place(), count: slots))
            let result = change(&pool)
            var notices: [@Sendable () -> Void] = []
            while !pool.line.isEmpty, let index = pool.free {
                let waiter = pool.removeFirst()
                state.lastLease += 1
                pool.places[index].lease = state.lastLease
                pool.places[index].request = waiter.request
                let slot = Slot(
                    for: waiter.request,
                    number: index + 1,
                    lease: String(state.lastLease),
                    token: pool.places[index].token,
                    waiting: pool.line.count
                )
                notices.append { waiter.continuation.resume(returning: slot) }
            }
            for waiter in pool.line {
                if let tell = pool.recall(for: waiter.request.member) { notices.append { tell(.recalled) } }
            }
            state.pools[request.key] = pool
            return (result, notices)
        }
    }
}

extension MemoryBudget.Pool {
    /// A free place, one with a token before one without.
    fileprivate var free: Int? {
        let free = places.indices.filter { places[$0].lease == nil }
        return free.first { places[$0].token != nil } ?? free.first
    }

    /// Who holds least goes first, then who came first.
    fileprivate mutating func removeFirst() -> MemoryBudget.Waiter {
        let least = line.indices.min { held(by: line[$0].request.member) < held(by: line[$1].request.member) }
        return line.remove(at: least ?? 0)
    }

    /// Recalls a place of the member that holds most and more than the waiting one, or the one held for longest of a
    /// member that holds any. Returns whom to tell.
    fileprivate mutating func recall(
        for member: DataAPI.Member
    ) -> (@Sendable (DataAPI.SessionBudget.Event) -> Void)? {
        let mine = held(by: member)
        // As many are recalled at a time as wait.
        guard places.count(where: \.isRecalled) < line.count else { return nil }
        let victim = places.indices
            .filter { !places[$0].isRecalled && places[$0].request.map { held(by: $0.member) > mine } == true }
            .max { a, b in
                let (ofA, ofB) = (places[a].holdings(in: self), places[b].holdings(in: self))
                return (ofA, places[b].lease ?? 0) < (ofB, places[a].lease ?? 0)
            }
        guard let victim else { return nil }
        places[victim].isRecalled = true
        return places[victim].request?.tell
    }

    fileprivate func held(by member: DataAPI.Member) -> Int {
        places.count { $0.request?.member == member }
    }
}

extension MemoryBudget.Place {
    fileprivate func holdings(in pool: MemoryBudget.Pool) -> Int {
        request.map { pool.held(by: $0.member) } ?? 0
    }
}
