import NIOConcurrencyHelpers
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
        /// Who logs in, without any secret: what tells one user's sessions from another's. `nil` when nothing says so;
        /// nothing is stored then, and the copies of the one provider are an account of their own.
        public let identity: String?
        /// How long supplied credentials are good for, and may be used for further logins. `nil`: one login.
        public let validity: Duration?

        /// Whose credentials it supplies.
        enum Owner: Sendable {
            case holder(Credentials)
            case named(String)
            /// Nobody says. By its number it is told from other providers of which nobody says either.
            case unnamed(Int)
        }

        let owner: Owner
        let supply: @Sendable () -> AnyPublisher<Credentials, any Error>

        private static let lastNumber = NIOLockedValueBox(0)

        /// The same credentials for each login. An account's name is its identity.
        public static func fixed(_ credentials: Credentials) -> CredentialsProvider {
            // A length first, so that no identity given by hand is equal by accident.
            let identity = credentials.user.map { "account \($0.utf8.count):\($0)" }
            return CredentialsProvider(identity: identity, owner: .holder(credentials), validity: .seconds(Int64.max)) {
                Just(credentials).setFailureType(to: (any Error).self).eraseToAnyPublisher()
            }
        }

        /// Fresh credentials from a publisher.
        ///
        /// - Parameters:
        ///   - identity: who logs in, in any words, without secrets. **Whoever gives the same words gets the same
        ///     sessions** (``Server/addDatabase(_:credentialsProvider:dataSources:)``), and no password is asked of
        ///     him: take what has been proved, such as the subject of a verified token, and nothing that was typed into
        ///     a form. `nil`, the default, is an account of its own, whose sessions are not stored.
        ///   - validity: how long one pair can be used, counted from when it was supplied: an hour for a Claris ID
        ///     token. The last minute (or tenth, if that is less) is not used. `nil` (the default): each login asks
        ///     anew, as the pairs of an OAuth sign-in demand.
        ///   - supply: a cold publisher. Cancelled when the login is.
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
