extension DataAPI {
    /// Keeps session tokens between runs, so that a program that runs every minute reuses one session instead of
    /// opening sixty an hour.
    ///
    ///     configuration.tokenStore = .file(at: "/var/lib/invoices/sessions")
    ///
    /// A session whose token is in a store is shared by all processes that use the store. Therefore only one session of
    /// the database uses it (the others are private). The stored token is tried before a login, and its session is left
    /// open at the end of the program, for the next run or for FileMaker's 15 minutes. `logOut()` closes it even if
    /// this run has not used it. Pinned work never uses it, since another process could change its globals.
    ///
    /// The right to read the store is the right to use the session: protect it like a password.
    ///
    /// **Failures of a store** are logged, counted in ``SessionStatus/storeFailures``, and, depending on the
    /// ``FailurePolicy``, passed to the calls that wait for a session. A session whose token could not be stored is
    /// logged out at the end.
    public struct TokenStore: Sendable {
        let shared: Shared?

        struct Shared: Sendable {
            let failurePolicy: FailurePolicy
            let load: @Sendable (Key) async throws -> String?
            let save: @Sendable (String, Key) async throws -> Bool
            let remove: @Sendable (String, Key) async throws -> Void
        }

        /// What happens to calls that need a session when the store cannot be read.
        public enum FailurePolicy: Hashable, Sendable {
            /// They fail with ``FMRest/APIError/Code/tokenStore``, and nothing is sent: the setup is wrong, and without
            /// its store the program would open more sessions than intended.
            case fail
            /// The store counts as empty: this costs logins, but no call fails.
            case logIn
        }

        private init(_ shared: Shared?) {
            self.shared = shared
        }

        /// Tokens stay in memory: sessions live as long as their database object and are logged out with it. This is
        /// the default.
        public static let memory = TokenStore(nil)

        /// A custom store: a cache that several machines share, a keychain.
        ///
        /// For each database, the closures are called one at a time, and must return.
        ///
        /// - Parameters:
        ///   - onFailure: what happens to calls when `load` throws. The default is ``FailurePolicy/logIn``.
        ///   - load: returns the token stored under the key, or `nil`.
        ///   - save: stores a token under the key, unless another one is there already (like `SET … NX` of Redis), and
        ///     returns whether it did. If two processes log in at the same time, one of them so keeps its session to
        ///     itself, and logs it out at its end.
        ///   - remove: removes the entry *if it still holds this token*; another process may have replaced it.
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
