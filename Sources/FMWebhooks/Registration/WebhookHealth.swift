/// How the hooks of a ``WebhookRegistrar`` do.
public struct WebhookHealth: Sendable, Hashable {
    /// What the registrar is about.
    public enum State: Sendable, Hashable {
        /// It has not yet seen all its hooks on the server: nothing may come in so far.
        case starting
        /// All hooks are on the server, as far as it tells.
        case registered
        /// The last calls failed, for this reason; they are repeated. Hooks that were on the server may still be.
        case failing(String)
        /// It was stopped, and has left so many hooks on the server, as far as it knows: because the server could not be reached,
        /// or the time was up.
        case stopped(hooksLeft: Int)
    }

    /// Something that needs a person.
    public struct Warning: Sendable, Hashable {
        /// What is wrong.
        public enum Kind: Sendable, Hashable {
            /// A delivery of the hook has failed so often; everything behind it waits. With the error of the last attempt.
            case stuck(attempts: Int, errorCode: Int, message: String)
            /// The server keeps the hook otherwise than it was asked to, as after a repair: the name of what differs.
            case differs(String)
        }

        /// The table of the hook.
        public var table: String
        /// What is wrong with it.
        public var kind: Kind

        /// A warning of your own making, for tests and doubles.
        public init(table: String, kind: Kind) {
            self.table = table
            self.kind = kind
        }
    }

    /// What the registrar is about.
    public var state: State
    /// What needs a person, by the last list that the server gave.
    public var warnings: [Warning]

    /// A health of your own making, for tests and doubles.
    public init(state: State, warnings: [Warning] = []) {
        self.state = state
        self.warnings = warnings
    }
}
