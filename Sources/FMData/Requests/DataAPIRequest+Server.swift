import FMHTTP

/// Calls that belong to a server: no session needed.
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
}
