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
    /// A global lives in one session of the server, and is gone with it. A database that may have several sessions gives
    /// each request the next one that is free, so a global that was set outside of ``withSession(_:)`` would be seen by
    /// some of the requests after it and not by others, and by those of other users of the same database object. So that
    /// is refused: with more than one session allowed (``DataAPI/SessionConfiguration/maximumSessions``, 8 by default)
    /// the call fails outside of `withSession` with ``FMRest/APIError/Code/invalidRequest``, and nothing is sent. With
    /// `maximumSessions = 1` it may be called anywhere, and the globals last until the session ends, which nobody
    /// announces: 15 minutes without a request, a restart of the host.
    ///
    /// - Parameter globalFields: values by qualified name, `"Table::Field"` or `"Table::Field(2)"`. The fields need not be
    ///   on a layout. A name without its table fails with ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// Source: Claris Data API guide, "Set global field values", `PATCH …/globals`.
    public func setGlobalFields(
        globalFields: [String: String],
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        perform(for: isolation) {
            let request = try DataAPIRequest.setGlobals(globalFields, in: self.name)
            guard self.hasOneSession else { throw FMRest.APIError.globalsWithoutSession }
            return request
        }
    }

    /// Whether what is set in a session is seen by the next request.
    private var hasOneSession: Bool {
        switch sessions {
        case .pinned: true
        case .pool: server.config.sessions.maximumSessions <= 1
        }
    }
}

extension FMRest.APIError {
    fileprivate static let globalsWithoutSession = FMRest.APIError(
        .invalidRequest,
        reason: "Global fields live in one session, and this database may use several: the next request might not see "
            + "them. Nothing was sent.",
        hint: "Set and use them within database.withSession { pinned in … }, or allow one session only "
            + "(config.sessions.maximumSessions = 1)."
    )
}
