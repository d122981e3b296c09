import Foundation
public import OpenCombine

extension DataAPI.Server {
    /// The identity providers that accounts of this server may sign in with; none where OAuth is switched off.
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one request; cancelling ends
    /// it on the wire. Fails with ``FMRest/APIError/Code/notDataAPI`` when the server does not know the call.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Log in to a database session using an OAuth identity provider",
    /// `GET /fmws/oauthproviderinfo`.
    public func getOAuthProviders(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<[DataAPI.OAuthProvider], FMRest.APIError> {
        perform { .oAuthProviders() }.map(\.providers).handedOver(to: isolation, by: self)
    }

    /// Begins a sign-in with an identity provider.
    ///
    /// Publishes where to send the user, then finishes. Nothing is sent before demand; each subscription begins a sign-in of
    /// its own; cancelling ends the request on the wire. When the user has signed in, the provider sends their browser to
    /// the return URL, with `trackingID` and `identifier`: make credentials of the latter by
    /// ``DataAPI/OAuthSignIn/credentials(identifier:)``. Fails with ``FMRest/APIError/Code/notDataAPI`` when the server
    /// does not know the provider.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - provider: the name of one of ``getOAuthProviders(isolation:)``.
    ///   - returnURL: where the browser ends up: a page of yours.
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
        .handedOver(to: isolation, by: self)
    }
}
