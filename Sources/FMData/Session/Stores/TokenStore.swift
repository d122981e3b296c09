extension DataAPI {
    /// Where session tokens are kept, so that a program that runs every minute reuses one session instead of opening
    /// sixty an hour.
    ///
    ///     configuration.tokenStore = .file(at: "/var/lib/invoices/sessions")
    ///
    /// A session whose token is in a store belongs to everybody who knows the store. So one session of the database
    /// uses it (the others are private), it is tried before a login, and at the end of the program it is left open, for
    /// the next run or for FileMaker's 15 minutes. `logOut()` closes it, also when this run has not used it. Pinned work
    /// never takes it, since another process could change its globals.
    ///
    /// Whoever can read the store can use the session: keep it as safe as a password.
    ///
    /// **A store that fails** is heard: in the log, in ``SessionStatus/storeFailures``, and, as its ``FailurePolicy`` says, by
    /// the calls that wait for a session. A session whose token it does not take is logged out at the end.
    public struct TokenStore: Sendable {
        let shared: Shared?

        struct Shared: Sendable {
            let failurePolicy: FailurePolicy
            let load: @Sendable (Key) async throws -> String?
            let save: @Sendable (String, Key) async throws -> Bool
            let remove: @Sendable (String, Key) async throws -> Void
        }

        /// What becomes of calls that need a session when the store cannot be read.
        public enum FailurePolicy: Hashable, Sendable {
            /// They fail with ``FMRest/APIError/Code/tokenStore``, and nothing is sent: something is set up wrongly, and
            /// without its store the program would open more sessions than it means to.
            case fail
            /// The store counts as empty: that costs logins, never calls.
            case logIn
        }

        private init(_ shared: Shared?) {
            self.shared = shared
        }

        /// Tokens stay in memory: sessions live as long as their database object, and are logged out with it. This is
        /// the default.
        public static let memory = TokenStore(nil)

        /// A store of your own: a cache that several machines share, a keychain.
        ///
        /// The closures are called one at a time for each database, and have to return.
        ///
        /// - Parameters:
        ///   - onFailure: what becomes of calls when `load` throws. The default is ``FailurePolicy/logIn``.
        ///   - load: the token under the key, or `nil`.
        ///   - save: puts a token under the key, unless another one is there by now (as `SET … NX` of Redis does), and says
        ///     whether it did. Of two processes that log in at the same time one so keeps its session to itself, and logs
        ///     it out at its end.
        ///   - remove: takes the entry out *if it still holds this token*; another process may have replaced it.
        public init(
            onFailure: FailurePolicy = .logIn,
            load: @escaping @Sendable (_ key: Key) async throws -> String?,
            save: @escaping @Sendable (_ token: String, _ key: Key) async throws -> Bool,
            remove: @escaping @Sendable (_ token: String, _ key: Key) async throws -> Void
        ) {
            self.init(Shared(failurePolicy: onFailure, load: load, save: save, remove: remove))
        }
    }
}
