extension SharedReads.Key {
    /// `nil` if the request cannot be encoded.
    init?<Response, Value>(
        _ request: DataAPIRequest<Response>,
        publishing value: Value.Type,
        in database: DataAPI.Database
    ) {
        guard let target = try? request.encodedTarget() else { return nil }
        self.target = "\(request.method) \(target)"
        body = if case .json = request.body { request.options } else { [] }
        response = ObjectIdentifier(Response.self)
        self.value = ObjectIdentifier(value)
        timeouts = database.calls.options.timeouts
        tag = database.calls.options.tag
        lease = if case .pinned(let session, _) = database.sessions { session.lease.id } else { nil }
    }
}
