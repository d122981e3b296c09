public import OpenCombine

extension DataAPI.Server {
    /// The server's product information. No session is needed.
    ///
    /// Source: Claris Data API guide, "Get product information", `GET /productInfo`. FileMaker Server 18 and later.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func getProductInfo(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<ProductInfo, FMRest.APIError> {
        perform { .productInfo() }.map(\.productInfo).delivered(on: isolation, by: self)
    }

    /// The databases that the server hosts for the Data API: with credentials those that the account may open, without
    /// any those that the host shows to everyone, which may be none.
    ///
    /// Fails with ``FMRest/APIError/Code/fileMaker`` 212 when the account is refused.
    ///
    /// Source: Claris Data API guide, "Get database names", `GET /databases`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func getDatabaseNames(
        credentials: DataAPI.Credentials? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Database.DatabaseListResponse, FMRest.APIError> {
        perform { .databaseNames(credentials) }.delivered(on: isolation, by: self)
    }

    /// Checks whether a session is still open: publishes an empty value when it is, and fails with FileMaker code 952
    /// when it is not.
    ///
    /// There is no need to check before a call: a call renews an expired session by itself.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - credentials: the token of a session, as in `database.credentials` after a login.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Validate session", `GET /validateSession`. FileMaker Server 19 and later.
    public func validateSession(
        credentials: DataAPI.Credentials,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        perform { .validateSession(.credentials(credentials)) }.delivered(on: isolation, by: self)
    }
}
