extension DataAPI {
    /// An identity provider with which a server's accounts may sign in.
    ///
    /// Source: Claris Data API guide, "Log in to a database session using an OAuth identity provider",
    /// `GET /fmws/oauthproviderinfo`.
    public struct OAuthProvider: Hashable, Sendable, Decodable {
        /// The name for ``DataAPI/Server/startOAuth(provider:returnURL:trackingId:isolation:)``: "Google", "Microsoft",
        /// ….
        public var name: String

        /// Creates a provider with a name, as ``DataAPI/Server/getOAuthProviders(isolation:)`` lists it.
        public init(name: String) {
            self.name = name
        }

        private enum CodingKeys: String, CodingKey {
            case name = "Name"
        }
    }

    /// A sign-in that was begun: the page for the user, and the data for the login after the user returns.
    ///
    ///     let signIn = try await server.startOAuth(provider: "Google", returnURL: callback).firstValue()
    ///     // open signIn.url in a browser; the callback gets `trackingID` and `identifier`
    ///     let database = server.addDatabase("Sales", credentials: signIn.credentials(identifier: identifier))
    ///
    /// The request id is half of a credential and is not printed.
    public struct OAuthSignIn: Hashable, Sendable {
        /// The first half of the login data: `X-FM-Data-OAuth-Request-Id`.
        public var requestId: String
        /// The URL of the provider's page, to be opened in a browser.
        public var url: String
        /// The id that the return URL gets as `trackingID`. A callback with another id belongs to another sign-in.
        public var trackingId: String

        /// Creates a sign-in. The properties describe its parts.
        public init(requestId: String, url: String, trackingId: String) {
            self.requestId = requestId
            self.url = url
            self.trackingId = trackingId
        }

        /// Returns the credentials of the finished sign-in. They are valid for one login, and for a short time.
        ///
        /// - Parameter identifier: The parameter `identifier` of the return URL.
        public func credentials(identifier: String) -> Credentials {
            Credentials(oAuthId: requestId, oAuthIdentifier: identifier)
        }
    }
}

extension DataAPI.OAuthSignIn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A short description without secrets.
    public var description: String { "OAuthSignIn(requestId: ••••, trackingId: \"\(trackingId)\")" }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Shows only the tracking id in `dump`, no secret.
    public var customMirror: Mirror { Mirror(self, children: ["trackingId": trackingId]) }
}
