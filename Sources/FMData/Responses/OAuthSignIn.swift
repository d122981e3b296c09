extension DataAPI {
    /// An identity provider that a server's accounts may sign in with.
    ///
    /// Source: Claris Data API guide, "Log in to a database session using an OAuth identity provider",
    /// `GET /fmws/oauthproviderinfo`.
    public struct OAuthProvider: Hashable, Sendable, Decodable {
        /// The name that ``DataAPI/Server/startOAuth(provider:returnURL:trackingId:isolation:)`` wants: "Google",
        /// "Microsoft", ….
        public var name: String

        /// A provider by its name, as ``DataAPI/Server/getOAuthProviders(isolation:)`` lists it.
        public init(name: String) {
            self.name = name
        }

        private enum CodingKeys: String, CodingKey {
            case name = "Name"
        }
    }

    /// A sign-in that was begun: where to send the user, and what is needed to log in when they come back.
    ///
    ///     let signIn = try await server.startOAuth(provider: "Google", returnURL: callback).firstValue()
    ///     // open signIn.url in a browser; the callback gets `trackingID` and `identifier`
    ///     let database = server.addDatabase("Sales", credentials: signIn.credentials(identifier: identifier))
    ///
    /// The request id is half of a credential and is not printed.
    public struct OAuthSignIn: Hashable, Sendable {
        /// The first half of the login: `X-FM-Data-OAuth-Request-Id`.
        public var requestId: String
        /// The provider's page, to be opened in a browser.
        public var url: String
        /// Comes back to the return URL as `trackingID`: a callback with another one belongs to another sign-in.
        public var trackingId: String

        /// A sign-in that was begun; see the properties for its parts.
        public init(requestId: String, url: String, trackingId: String) {
            self.requestId = requestId
            self.url = url
            self.trackingId = trackingId
        }

        /// The credentials of the finished sign-in. They are good for one login, and for a short time.
        ///
        /// - Parameter identifier: the parameter `identifier` of the return URL.
        public func credentials(identifier: String) -> Credentials {
            Credentials(oAuthId: requestId, oAuthIdentifier: identifier)
        }
    }
}

extension DataAPI.OAuthSignIn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What it is, in a few words that hold no secret and no field value.
    public var description: String { "OAuthSignIn(requestId: ••••, trackingId: \"\(trackingId)\")" }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// What a dump may show: no secret.
    public var customMirror: Mirror { Mirror(self, children: ["trackingId": trackingId]) }
}
