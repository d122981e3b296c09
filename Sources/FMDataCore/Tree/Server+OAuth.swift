import Foundation
public import OpenCombine

extension DataAPI.Server {
    /// The identity providers that accounts of this server may sign in with; none where OAuth is switched off.
    ///
    /// Fails with ``FMRest/APIError/Code/notDataAPI`` when the server does not know the call.
    ///
    /// Source: Claris Data API guide, "Log in to a database session using an OAuth identity provider",
    /// `GET /fmws/oauthproviderinfo`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func getOAuthProviders(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<[DataAPI.OAuthProvider], FMRest.APIError> {
        perform { .oAuthProviders() }.map(\.providers).delivered(on: isolation, by: self)
    }

    /// Starts a sign-in with an identity provider.
    ///
    /// Publishes the URL to send the user to. Each subscription starts a sign-in of its own. When the user has signed
    /// in, the provider sends their browser to the return URL, with `trackingID` and `identifier`: create credentials
    /// from the latter by ``DataAPI/OAuthSignIn/credentials(identifier:)``. Fails with
    /// ``FMRest/APIError/Code/notDataAPI`` when the server does not know the provider.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - provider: the name of one of ``getOAuthProviders(isolation:)``.
    ///   - returnURL: the URL of a page of yours, which the browser is sent to in the end.
    ///   - trackingId: any text, to tell this sign-in from others when the browser comes back. The default is a new
    ///     UUID for each subscription.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Log in to a database session using an OAuth identity provider",
    /// `GET /oauth/getoauthurl`.
    public func startOAuth(
        provider: String,
        returnURL: String,
        trackingId: String? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.OAuthSignIn, FMRest.APIError> {
        Deferred {
            let trackingId = trackingId ?? UUID().uuidString
            return self.perform { .oAuthStart(provider: provider, returnURL: returnURL, trackingId: trackingId) }
                .map { start in
                    DataAPI.OAuthSignIn(requestId: start.requestId, url: start.url, trackingId: trackingId)
                }
        }
        .delivered(on: isolation, by: self)
    }
}
