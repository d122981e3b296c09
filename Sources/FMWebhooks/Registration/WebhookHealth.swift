/// The state of the webhooks of a ``WebhookRegistrar``.
public struct WebhookHealth: Sendable, Hashable {
    /// What the registrar is doing.
    public enum State: Sendable, Hashable {
        /// It has not yet seen all its webhooks on the server, so deliveries may be missing.
        case starting
        /// All webhooks are on the server, as far as its answers show.
        case registered
        /// The last calls failed, for this reason; they are repeated. Webhooks that were on the server may still be
        /// there.
        case failing(String)
        /// It was stopped, and has left this number of webhooks on the server, as far as it knows: because the server
        /// could not be reached, or the time limit was reached.
        case stopped(hooksLeft: Int)
    }

    /// A problem that a person has to solve.
    public struct Warning: Sendable, Hashable {
        /// The kind of problem.
        public enum Kind: Sendable, Hashable {
            /// A delivery of the webhook has failed this number of times, and all later deliveries wait. With the error
            /// of the last attempt.
            case stuck(attempts: Int, errorCode: Int, message: String)
            /// The server stores the webhook differently from what was asked, even after a repair: the name of the
            /// differing property.
            case differs(String)
        }

        /// The table of the webhook.
        public var table: String
        /// The kind of problem.
        public var kind: Kind

        /// A warning, for tests and test doubles.
        public init(table: String, kind: Kind) {
            self.table = table
            self.kind = kind
        }
    }

    /// What the registrar is doing.
    public var state: State
    /// The problems that a person has to solve, by the last list of the server.
    public var warnings: [Warning]

    /// A health, for tests and test doubles.
    public init(state: State, warnings: [Warning] = []) {
        self.state = state
        self.warnings = warnings
    }
}
