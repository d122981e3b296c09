extension DataAPI {
    /// A limit for the polls of live queries that several processes share.
    ///
    ///     config.pollGate = fleet.pollGate
    ///
    /// A poll that ``Config/pollRateLimit`` allows waits for its turn at the gate. Without a gate, N processes may poll
    /// N times as often as one.
    public struct PollGate: Sendable {
        package let turn: @Sendable (_ host: String) async throws -> Void

        /// A gate of its own kind.
        ///
        /// - Parameter turn: returns when a poll of this host (`scheme://host:port`) may begin, or when its task is
        ///   cancelled. If it throws, the poll begins as without a gate.
        public init(turn: @escaping @Sendable (_ host: String) async throws -> Void) {
            self.turn = turn
        }
    }
}
