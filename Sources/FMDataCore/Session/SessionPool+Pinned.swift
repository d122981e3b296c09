import OpenCombine

extension SessionPool {
    /// Runs work that is bound to one session: global fields set in it are visible to its own finds and scripts only.
    ///
    /// Publishes the values of `work`. The session is leased for that time, and logged out afterwards, since other
    /// requests must not see its globals. A lost session is not replaced: requests inside `work` use the given lease
    /// and fail with code `sessionLost` (they map their errors by ``SessionLease/lostSession(_:)``).
    ///
    /// - Parameters:
    ///   - clock: limits the wait for the session; `nil` if only the pool's limits apply.
    ///   - accountPeriod: that in which the work is done.
    func pinned<Value>(
        clock: CallClock? = nil,
        in accountPeriod: AccountPeriod? = nil,
        _ work: @escaping (SessionLease) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        lease(for: .pinned, within: clock, in: accountPeriod)
            .attempt(work)
            // The session ends by a logout whatever the work did, which may also have used another database.
            .givingBack(to: self) { _, _ in .retired }
            .mapError(\.error)
            .eraseToAnyPublisher()
    }
}
