import OpenCombine

/// A pool's access to a budget, under one key. What is done with held slots is done in the order of the calls, and a
/// slot is taken after everything that was called before.
final class BudgetClient: Sendable {
    typealias Slot = DataAPI.SessionBudget.Slot

    private let budget: DataAPI.SessionBudget
    private let key: DataAPI.TokenStore.Key
    private let member: DataAPI.Member
    private let onFailure: @Sendable (any Error) -> Void
    private let work: OrderedWork

    /// `nil` when there is no budget or no key.
    init?(
        _ budget: DataAPI.SessionBudget?,
        _ key: DataAPI.TokenStore.Key?,
        _ member: DataAPI.Member,
        _ time: SessionTime,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        guard let budget, let key else { return nil }
        self.budget = budget
        self.key = key
        self.member = member
        work = OrderedWork(startTask: time.startTask)
        self.onFailure = onFailure
    }

    /// Reports the slot, or why there is none. A slot that comes although the taking was cancelled is reported as well.
    func take(
        _ tell: @escaping @Sendable (DataAPI.SessionBudget.Event) -> Void,
        _ report: @escaping @Sendable (Result<Slot, FMRest.APIError>) -> Void
    ) -> Taking {
        let before = work.last
        let request = DataAPI.SessionBudget.Request(key: key, member: member, tell: tell)
        return Taking(
            work.startTask { [budget, onFailure] in
                await before?.value
                do {
                    report(.success(try await budget.take(request)))
                } catch let error as DataAPI.SessionBudget.CredentialsRefused {
                    report(.failure(.credentialsRefusedElsewhere(error)))
                } catch is CancellationError {
                    report(.failure(.sessionBudget(CancellationError())))
                } catch {
                    onFailure(error)
                    report(.failure(.sessionBudget(error)))
                }
            }
        )
    }

    /// Reports whether the slot is still held, as far as is known.
    func put(
        _ token: SessionToken,
        into slot: Slot,
        life: Duration,
        _ report: @escaping @Sendable (_ isHeld: Bool) -> Void
    ) {
        work.add { [self] in
            report(await attempt { try await budget.put(token.value, slot, life) } ?? true)
        }
    }

    /// Reports whether the slot is held for certain, so that a login may follow.
    func drop(_ token: SessionToken, from slot: Slot, _ report: @escaping @Sendable (_ isHeld: Bool) -> Void) {
        work.add { [self] in
            report(await attempt { try await budget.drop(token.value, slot) } ?? false)
        }
    }

    /// - Parameter token: the token of a session that has ended; it is dropped first.
    func give(_ slot: Slot, without token: SessionToken?, life: Duration?) {
        work.add { [self] in
            if let token { _ = await attempt { try await budget.drop(token.value, slot) } }
            await attempt { try await budget.give(slot, life) }
        }
    }

    func full(_ slot: Slot) {
        work.add { [self] in await attempt { try await budget.full(slot) } }
    }

    func refused(_ slot: Slot, _ code: FileMakerErrorCode?) {
        work.add { [self] in await attempt { try await budget.refused(slot, code) } }
    }

    /// Gives a slot back in which the host may have a session that nobody knows.
    func left(_ slot: Slot) {
        work.add { [self] in await attempt { try await budget.left(slot) } }
    }

    /// Calls `body` when everything that was called so far is done.
    func afterwards(_ body: @escaping @Sendable () -> Void) {
        work.add { body() }
    }

    @discardableResult
    private func attempt<Value: Sendable>(_ operation: () async throws -> Value) async -> Value? {
        do {
            return try await operation()
        } catch {
            onFailure(error)
            return nil
        }
    }
}

extension BudgetClient {
    /// A slot that is being taken. Cancelling leaves the line.
    struct Taking: Cancellable, Sendable {
        private let task: Task<Void, Never>

        fileprivate init(_ task: Task<Void, Never>) {
            self.task = task
        }

        func cancel() { task.cancel() }
    }
}
