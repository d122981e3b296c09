public import OpenCombine

extension DataAPI.Database {
    /// Sets global fields, in one session.
    ///
    ///     database.withSessionPublisher { pinned in
    ///         pinned.setGlobals(["Orders::gYear": "2024"])
    ///             .flatMap { _ in
    ///                 pinned.addLayout(Layouts.orders).findRecords(query: ofThatYear).returnAs(Order.self)
    ///             }
    ///             .eraseToAnyPublisher()
    ///     }
    ///
    /// Publishes an empty value.
    ///
    /// A global field's value lives in one session of the server and is lost with it, without notice: after 15 minutes
    /// without a request, or when the host restarts. Within ``withSession(keptAlive:isolation:_:)`` such a loss is a
    /// failure, and other work goes on in parallel sessions: set globals there. Outside of it, all later requests run
    /// one after the other in the session in which the globals were set, until that session ends, so that they all see
    /// them. Set globals in one call, or one call after the other: two calls at the same time may each use a session of
    /// their own. With a key, which opens no session, the call fails with ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - globals: values by qualified name, `"Table::Field"` or `"Table::Field(2)"`. The fields need not be on a
    ///     layout. A name without its table fails with ``FMRest/APIError/Code/invalidRequest``. Generated types have a
    ///     `Globals` whose `globalFields` are these values (<doc:Models>).
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Set global field values", `PATCH …/globals`.
    public func setGlobals(
        _ globals: [String: String],
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        perform {
            if self.accountPeriod.key != nil { throw FMRest.APIError.keyOpensNoSession("Global fields need") }
            return try .setGlobals(globals, in: self.name)
        } exchange: { request, token in
            self.server.exchange(request, token: token)
                .handleEvents(receiveOutput: { _ in self.stay(inSessionOf: token) })
                .eraseToAnyPublisher()
        }
        .delivered(on: isolation, by: self, mayHaveWritten: true)
    }

    private func stay(inSessionOf token: SessionToken) {
        if case .pool(let pool) = sessions { pool.confine(to: token) }
    }
}
