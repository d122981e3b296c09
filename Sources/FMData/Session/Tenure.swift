import NIOConcurrencyHelpers

/// The time in which a database acts as one account, and what it has cached for that account.
///
/// What begins in a tenure ends with it. When the credentials are replaced by those of another account, the calls under
/// way fail (``TenuredPublisher``), values that were read already are no longer delivered (``Publisher/read(in:)``),
/// and the caches are dropped with the tenure, including what a late answer still writes into them.
final class Tenure: Sendable {
    /// The key that each call of the account carries, in place of a session's token; `nil` if the account logs in.
    let key: SessionToken?
    /// What is cached for the account.
    let attachments = Attachments()
    let time: SessionTime

    private struct State {
        var isOver = false
        var calls: [Int: any TenuredCall] = [:]
        var lastCall = 0
    }

    private let state = NIOLockedValueBox(State())

    init(time: SessionTime, key: SessionToken? = nil) {
        self.key = key
        self.time = time
    }

    var isOver: Bool { state.withLockedValue { $0.isOver } }

    /// Registers a call that begins. Returns its number; `nil` if the tenure is over.
    func enter(_ call: any TenuredCall) -> Int? {
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

    /// Ends the tenure. Returns the calls under way, in the order in which they began; the caller has to end them.
    func end() -> [any TenuredCall] {
        state.withLockedValue { state in
            defer { state.calls = [:] }
            state.isOver = true
            return state.calls.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

/// A call under way that ends with its tenure.
protocol TenuredCall: AnyObject, Sendable {
    func tenureEnded()
}
