public import OpenCombine

extension DataAPI.Database {
    /// Sets global fields, for the work of one session.
    ///
    ///     database.withSession { pinned in
    ///         pinned.setGlobalFields(globalFields: ["Orders::gYear": "2024"])
    ///             .flatMap { _ in pinned.addLayout(Layouts.orders).findRecords(query: ofThatYear).returnAs(Order.self) }
    ///             .eraseToAnyPublisher()
    ///     }
    ///
    /// Publishes one empty value, then finishes. Nothing is sent before demand; each subscription is one request;
    /// cancelling ends it on the wire.
    ///
    /// A global lives in one session of the server, and is gone with it, which nobody announces: 15 minutes without a
    /// request, a restart of the host. Within ``withSession(isolation:_:)->Value`` such a loss is a failure, and other work goes
    /// on in parallel sessions; that is the place for it. Outside, so that all requests after it see the globals, they all
    /// run from then on in the one session in which they were set, one after the other, until it ends. Set them in one
    /// call, or one after the other: of two calls at the same time each may have had a session of its own.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - globalFields: values by qualified name, `"Table::Field"` or `"Table::Field(2)"`. The fields need not be on a
    ///     layout. A name without its table fails with ``FMRest/APIError/Code/invalidRequest``.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Set global field values", `PATCH …/globals`.
    public func setGlobalFields(
        globalFields: [String: String],
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        perform {
            try .setGlobals(globalFields, in: self.name)
        } exchange: { request, token in
            self.server.exchange(request, token: token)
                .handleEvents(receiveOutput: { _ in self.stay(inSessionOf: token) })
                .eraseToAnyPublisher()
        }
        .handedOver(to: isolation, by: self, mayHaveWritten: true)
    }

    private func stay(inSessionOf token: SessionToken) {
        if case .pool(let pool) = sessions { pool.confine(to: token) }
    }
}
