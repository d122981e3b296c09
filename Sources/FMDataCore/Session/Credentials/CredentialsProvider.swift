import NIOConcurrencyHelpers
public import OpenCombine

extension DataAPI {
    /// Supplies the credentials of each login: one fixed pair, or fresh ones from a publisher.
    ///
    ///     .fixed(Credentials(user: "api", password: secret))
    ///
    ///     CredentialsProvider(identity: "ada@example.com", validity: .seconds(3600)) {
    ///         signInToClarisID().map { Credentials(clarisId: $0) }.mapError { $0 as any Error }.eraseToAnyPublisher()
    ///     }
    ///
    /// The publisher is subscribed to when a login needs credentials; its first value is used. Credentials that the
    /// server refused are not sent again: the provider is asked for others, and if it has none, the login fails with
    /// the server's first answer.
    public struct CredentialsProvider: Sendable {
        /// Identifies the user, without any secret, to tell one user's sessions from another's. With `nil`, nothing is
        /// stored, and the copies of this one provider are an account of their own.
        public let identity: String?
        /// How long supplied credentials are valid and may be used for further logins. `nil`: for one login.
        public let validity: Duration?

        /// The user whose credentials the provider supplies.
        enum Owner: Sendable {
            case holder(Credentials)
            case named(String)
            /// Unknown. The number tells this provider from other providers without an identity.
            case unnamed(Int)
        }

        let owner: Owner
        let supply: @Sendable () -> AnyPublisher<Credentials, any Error>

        private static let lastNumber = NIOLockedValueBox(0)

        /// The same credentials for each login. The identity is the account's name; other kinds of credentials have
        /// none.
        public static func fixed(_ credentials: Credentials) -> CredentialsProvider {
            // The name is preceded by its length, so that no identity given by the program is equal by accident.
            let identity = credentials.user.map { "account \($0.utf8.count):\($0)" }
            return CredentialsProvider(identity: identity, owner: .holder(credentials), validity: .seconds(Int64.max)) {
                Just(credentials).setFailureType(to: (any Error).self).eraseToAnyPublisher()
            }
        }

        /// Fresh credentials from a publisher.
        ///
        /// - Parameters:
        ///   - identity: identifies the user, in any words, without secrets. **The same words give the same sessions**
        ///     (``Server/addDatabase(_:credentialsProvider:dataSources:)``) without a password check. So use something
        ///     proven, such as the subject of a verified token, and never text typed into a form. The default `nil` is
        ///     an account of its own, whose sessions are not stored.
        ///   - validity: how long supplied credentials can be used, counted from when they were supplied: an hour for a
        ///     Claris ID token. The last minute (or the last tenth, if that is shorter) is not used. The default `nil`
        ///     asks for new ones with each login, as the pairs of an OAuth sign-in require.
        ///   - supply: a cold publisher. It is cancelled with its login.
        public init(
            identity: String? = nil,
            validity: Duration? = nil,
            supply: @escaping @Sendable () -> AnyPublisher<Credentials, any Error>
        ) {
            let number = Self.lastNumber.withLockedValue { last in
                last += 1
                return last
            }
            self.init(
                identity: identity,
                owner: identity.map(Owner.named) ?? .unnamed(number),
                validity: validity,
                supply: supply
            )
        }

        private init(
            identity: String?,
            owner: Owner,
            validity: Duration?,
            supply: @escaping @Sendable () -> AnyPublisher<Credentials, any Error>
        ) {
            self.identity = identity
            self.owner = owner
            self.validity = validity
            self.supply = supply
        }
    }
}
