public import OpenCombine

extension DataAPI.Server {
    /// What the server says of itself. No session is needed.
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one request; cancelling ends
    /// it on the wire.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Get product information", `GET /productInfo`. FileMaker Server 18 and later.
    public func getProductInfo(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<ProductInfo, FMRest.APIError> {
        perform { .productInfo() }.map(\.productInfo).handedOver(to: isolation, by: self)
    }

    /// The databases the server hosts for the Data API: with credentials those that they may open, without any those that
    /// the host shows to everybody, which may be none.
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one request; cancelling ends
    /// it on the wire. Fails with ``FMRest/APIError/Code/fileMaker`` 212 when the account is refused.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Get database names", `GET /databases`.
    public func getDatabaseNames(
        credentials: DataAPI.Credentials? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Database.DatabaseListResponse, FMRest.APIError> {
        perform { .databaseNames(credentials) }.handedOver(to: isolation, by: self)
    }

    /// Whether a session is still open: publishes one empty value when it is, and fails with FileMaker code 952 when not.
    ///
    /// Nothing is sent before demand; each subscription is one request; cancelling ends it on the wire. There is no need to
    /// ask before a call: a session that died is renewed by the call itself.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
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
        perform { .validateSession(.credentials(credentials)) }.handedOver(to: isolation, by: self)
    }
}
