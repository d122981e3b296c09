public import OpenCombine

extension DataAPI.Database {
    /// Sets global fields for the session that the request happens to use.
    ///
    /// Publishes one empty value, then finishes. Nothing is sent before demand; each subscription is one request;
    /// cancelling ends it on the wire. A global lives in one session: with more than one session in the pool, set and use
    /// it within one pinned session.
    ///
    /// - Parameter globalFields: values by qualified name, `"Table::Field"` or `"Table::Field(2)"`. The fields need not be
    ///   on a layout. A name without its table fails with ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// Source: Claris Data API guide, "Set global field values", `PATCH …/globals`.
    public func setGlobalFields(
        globalFields: [String: String],
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        perform(for: isolation) { try .setGlobals(globalFields, in: self.name) }
    }
}
