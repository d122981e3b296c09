public import OpenCombine

extension DataAPI {
    /// Where the credentials of the next login come from: one pair that stays, or a publisher that supplies fresh ones.
    ///
    ///     .fixed(Credentials(user: "api", password: secret))
    ///
    ///     CredentialsProvider(identity: "ada@example.com", validity: .seconds(3600)) {
    ///         signInToClarisID().map { Credentials(clarisId: $0) }.mapError { $0 as any Error }.eraseToAnyPublisher()
    ///     }
    ///
    /// The publisher is subscribed to when a login needs credentials; its first value is used. Credentials that the
    /// server refused are not sent again: the provider is asked for others, and if it has none the login fails with
    /// the server's first answer.
    public struct CredentialsProvider: Sendable {
        /// Who logs in, without any secret: what tells one user's stored sessions from another's. `nil` when nothing
        /// says so; nothing is stored then.
        public let identity: String?
        /// How long supplied credentials are good for, and may be used for further logins. `nil`: one login.
        public let validity: Duration?

        let supply: @Sendable () -> AnyPublisher<Credentials, any Error>

        /// The same credentials for each login. An account's name is its identity.
        public static func fixed(_ credentials: Credentials) -> CredentialsProvider {
            // A length first, so that no identity given by hand is equal by accident.
            let identity = credentials.user.map { "account \($0.utf8.count):\($0)" }
            return CredentialsProvider(identity: identity, validity: .seconds(Int64.max)) {
                Just(credentials).setFailureType(to: (any Error).self).eraseToAnyPublisher()
            }
        }

        /// Fresh credentials from a publisher.
        ///
        /// - Parameters:
        ///   - identity: who logs in, in any words, without secrets. `nil` (the default) if sessions are not stored.
        ///   - validity: how long one pair can be used, counted from when it was supplied: an hour for a Claris ID
        ///     token. The last minute (or tenth, if that is less) is not used. `nil` (the default): each login asks
        ///     anew, as the pairs of an OAuth sign-in demand.
        ///   - supply: a cold publisher. Cancelled when the login is.
        public init(
            identity: String? = nil,
            validity: Duration? = nil,
            supply: @escaping @Sendable () -> AnyPublisher<Credentials, any Error>
        ) {
            self.identity = identity
            self.validity = validity
            self.supply = supply
        }
    }
}
