extension DataAPI {
    /// The credentials of a login: an account, an OAuth pair, a Claris ID token, or the token of a session that is
    /// already open; or a key, which needs no login.
    ///
    ///     Credentials(user: "api", password: secret)
    ///     Credentials(oAuthId: requestId, oAuthIdentifier: identifier)
    ///     Credentials(clarisId: idToken)
    ///     Credentials(token: sessionToken)
    ///     Credentials.key(dataAPIKey)
    ///
    /// Secrets are never printed: descriptions, dumps and mirrors show the kind and, for an account, its name.
    ///
    /// Source: Claris Data API guide, "Log in to a database session" and its OAuth and Claris ID forms.
    public struct Credentials: Hashable, Sendable {
        /// The kind of credentials.
        public enum Kind: Hashable, Sendable {
            /// A FileMaker or externally authenticated account: name and password.
            case basic
            /// The request id and identifier of an OAuth sign-in.
            case oAuth
            /// The ID token of a Claris ID sign-in (FileMaker Cloud).
            case clarisId
            /// The token of an open session.
            case token
            /// A key of a proxy before the host, which has sessions of its own.
            case key
            /// Unusable: the session is lost and could not be renewed.
            case invalid
        }

        enum Secret: Hashable, Sendable {
            case basic(user: String, password: String)
            case oAuth(requestId: String, identifier: String)
            case clarisId(String)
            case token(String)
            case key(String)
            case invalid
        }

        let secret: Secret

        /// A FileMaker account. HTTP Basic does not allow a colon in the *name*: such a login fails without being sent.
        public init(user: String, password: String) {
            secret = .basic(user: user, password: password)
        }

        /// An OAuth sign-in: the `X-FMS-Request-ID` and the `identifier` from the identity provider. The pair is valid
        /// for one login.
        public init(oAuthId: String, oAuthIdentifier: String) {
            secret = .oAuth(requestId: oAuthId, identifier: oAuthIdentifier)
        }

        /// The ID token of a Claris ID sign-in, valid for one hour (FileMaker Cloud only).
        public init(clarisId: String) {
            secret = .clarisId(clarisId)
        }

        /// A session that is already open. It is used until the server refuses it, and cannot be renewed.
        public init(token: String) {
            secret = .token(token)
        }

        /// A Data API key of OttoFMS, a proxy on the host that logs in by itself.
        ///
        /// ```swift
        /// var config = DataAPI.Config()
        /// config.rootPath = "/otto/fmi/data"
        /// let orders = DataAPI.Server(host: "fms.example.com", config: config)
        ///     .addDatabase("Orders", credentials: .key(secret))
        /// print(orders.credentials)                               // Credentials.key(••••)
        /// ```
        ///
        /// Each call carries the key. There is no session, so there is no login, no logout, nothing that ends after 15
        /// minutes, and no limit but ``DataAPI/Config/maximumConnections`` for the number of calls at once.
        /// ``DataAPI/SessionConfiguration`` has no effect. A call whose key is refused fails with
        /// ``FMRest/APIError/Code/unauthorized``, and was not carried out; the next call sends the key again.
        ///
        /// Nothing binds two calls together: the proxy may carry out each in another session. So
        /// ``DataAPI/Database/withSession(keptAlive:isolation:_:)`` and
        /// ``DataAPI/Database/setGlobals(_:isolation:)`` fail with
        /// ``FMRest/APIError/Code/invalidRequest`` before anything is sent, and scripts must not rely on what another
        /// call has left. The content of a container is streamed by the host itself, which does not know keys: it can
        /// be read where the host asks for no token.
        ///
        /// Source: OttoFMS documentation, "API Proxy",
        /// <https://docs.ottomatic.cloud/docs/ottofms/ottofms-features/api-proxy>.
        public static func key(_ key: String) -> Credentials { Credentials(.key(key)) }

        private init(_ secret: Secret) {
            self.secret = secret
        }

        /// Unusable credentials; see ``Kind/invalid``.
        public static let invalid = Credentials(.invalid)

        /// The kind of these credentials.
        public var kind: Kind {
            switch secret {
            case .basic: .basic
            case .oAuth: .oAuth
            case .clarisId: .clarisId
            case .token: .token
            case .key: .key
            case .invalid: .invalid
            }
        }

        /// The account name of ``Kind/basic`` credentials; `nil` for the other kinds.
        public var user: String? {
            if case .basic(let user, _) = secret { user } else { nil }
        }
    }

    /// Credentials for external FileMaker data sources, sent with every login of a database.
    ///
    /// The server checks them when the other file is first opened, not at login: a wrong password shows up later, as
    /// FileMaker code 100, 802 or 212.
    ///
    /// Source: Claris Data API guide, "Log in to an external data source".
    public struct FMDataSourceAuth: Hashable, Sendable {
        /// One external file and how to open it.
        public struct DataSource: Hashable, Sendable {
            /// An account or an OAuth pair in the external file.
            public enum Credentials: Hashable, Sendable {
                case basic(user: String, password: String)
                case oAuth(requestId: String, identifier: String)
            }

            /// The file's name, without `.fmp12`. Only files on the same host qualify.
            public var database: String
            /// How the file is opened.
            public var credentials: Credentials

            /// Credentials for one external data source.
            public init(database: String, credentials: Credentials) {
                self.database = database
                self.credentials = credentials
            }
        }

        /// The external files.
        public var fmDataSource: [DataSource]

        /// Credentials for several external data sources.
        public init(fmDataSource: [DataSource]) {
            self.fmDataSource = fmDataSource
        }
    }
}

// MARK: - Printing without secrets

extension DataAPI.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind and, for an account, its name; no secret.
    public var description: String {
        switch secret {
        case .basic(let user, _): "Credentials(user: \"\(user)\", password: ••••)"
        case .oAuth: "Credentials(oAuthId: ••••, oAuthIdentifier: ••••)"
        case .clarisId: "Credentials(clarisId: ••••)"
        case .token: "Credentials(token: ••••)"
        case .key: "Credentials.key(••••)"
        case .invalid: "Credentials.invalid"
        }
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The mirror of a dump, without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: user.map { [("kind", kind as Any), ("user", $0 as Any)] } ?? [("kind", kind as Any)])
    }
}

extension DataAPI.FMDataSourceAuth.DataSource.Credentials: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The kind and, for an account, its name; no secret.
    public var description: String {
        switch self {
        case .basic(let user, _): "basic(user: \"\(user)\", password: ••••)"
        case .oAuth: "oAuth(requestId: ••••, identifier: ••••)"
        }
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The mirror of a dump, without secrets.
    public var customMirror: Mirror { Mirror(reflecting: description) }
}
