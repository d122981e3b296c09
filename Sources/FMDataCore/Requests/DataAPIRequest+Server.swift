import FMHTTP

/// Calls of a server: they need no session.
extension DataAPIRequest {
    static func productInfo() -> Self where Response == DataAPI.Server.ProductInfoContainer {
        Self(method: .GET, path: DataAPIPath("productInfo"), authorization: .none, isSafeToRepeat: true)
    }

    static func databaseNames(_ credentials: DataAPI.Credentials?) -> Self
    where Response == DataAPI.Database.DatabaseListResponse {
        Self(
            method: .GET,
            path: DataAPIPath("databases"),
            authorization: credentials.map { .credentials($0) } ?? .none,
            isSafeToRepeat: true
        )
    }

    static func validateSession(_ authorization: Authorization) -> Self where Response == FMRest.EmptyResponse {
        Self(method: .GET, path: DataAPIPath("validateSession"), authorization: authorization, isSafeToRepeat: true)
    }

    static func oAuthProviders() -> Self where Response == OAuthProviderList {
        Self(
            method: .GET,
            root: .host,
            path: DataAPIPath("fmws", "oauthproviderinfo"),
            authorization: .none,
            isSafeToRepeat: true
        )
    }

    /// The numbers are those of the guide: an application of the type "Data API", which may sign in by OAuth since
    /// version 15.
    static func oAuthStart(provider: String, returnURL: String, trackingId: String) -> Self
    where Response == OAuthStart {
        Self(
            method: .GET,
            root: .host,
            path: DataAPIPath("oauth", "getoauthurl"),
            options: [WireOption](joining: [
                .hidden("trackingID", trackingId), .hidden("provider", provider), .hidden("address", "127.0.0.1"),
                .hidden("X-FMS-OAuth-AuthType", "2"),
            ]),
            headers: [
                "X-FMS-Application-Type": "9", "X-FMS-Application-Version": "15", "X-FMS-Return-URL": returnURL,
            ],
            authorization: .none,
            isSafeToRepeat: true
        )
    }
}
