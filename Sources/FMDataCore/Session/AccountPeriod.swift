import NIOConcurrencyHelpers

/// The time in which a database acts as one account, and what it has cached for that account.
///
/// What begins in an account period ends with it. When the credentials are replaced by those of another account, the
/// calls under way fail (``AccountPeriodPublisher``), values that were read already are no longer delivered
/// (``Publisher/read(in:)``), and the caches are dropped with the account period, including what a late answer still
/// writes into them.
package final class AccountPeriod: Sendable {
    /// The key that each call of the account carries, in place of a session's token; `nil` if the account logs in.
    package let key: SessionToken?
    /// What is cached for the account.
    package let attachments = Attachments()
    let time: SessionTime

    private struct State {
        var isOver = false
        var calls: [Int: any AccountPeriodCall] = [:]
        var lastCall = 0
    }

    private let state = NIOLockedValueBox(State())

    init(time: SessionTime, key: SessionToken? = nil) {
        self.key = key
        self.time = time
    }

    package var isOver: Bool { state.withLockedValue { $0.isOver } }

    /// Registers a call that begins. Returns its number; `nil` if the account period is over.
    func enter(_ call: any AccountPeriodCall) -> Int? {
        state.withLockedValue { state in
            guard !state.isOver else { return nil }
            state.lastCall += 1
            state.calls[state.lastCall] = call
            return state.lastCall
        }
    }

    /// Removes a call that has ended.
    func leave(_ number: Int) {
        let call = state.withLockedValue { $0.calls.removeValue(forKey: number) }
        // The call may be destroyed here, with everything it holds, so not under the lock.
        withExtendedLifetime(call) {}
    }

    /// Ends the account period. Returns the calls under way, in the order in which they began; the caller has to end
    /// them.
    func end() -> [any AccountPeriodCall] {
        state.withLockedValue { state in
            defer { state.calls = [:] }
            state.isOver = true
            return state.calls.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

/// A call under way that ends with its account period.
protocol AccountPeriodCall: AnyObject, Sendable {
    func accountPeriodEnded()
}
