import OpenCombine

extension DataAPI.Database {
    /// Fails with an error that says which of the request's fields and portals it is about, where FileMaker's does not: the
    /// layout's metadata are asked for, unless they are known or the configuration forbids it, in the same sessions. When they
    /// cannot be had the error says what it can without.
    func namingFields<Response, Value>(
        in error: FMRest.APIError,
        of request: DataAPIRequest<Response>,
        _ call: CallContext
    ) -> AnyPublisher<Value, FMRest.APIError> {
        guard let suspicion = FieldSuspicion(error, about: request) else {
            return Fail(error: error).eraseToAnyPublisher()
        }
        guard server.config.asksWhichFieldFailed else {
            return Fail(error: suspicion.namingPortalsAlone).eraseToAnyPublisher()
        }
        // An error does not wait for a better description of itself.
        let calls = call.changed { $0.retryPolicy = nil }
        let layout = DataAPI.Database(self, calls: calls).addLayout(suspicion.layoutToAsk)
        return layout.database.tenure.layouts
            .metadata(of: layout.name, for: original, by: call.clock?.deadline(from: server.time.now())) {
                layout.getLayoutMetadata(isolation: nil)
            }
            .map { $0.map(suspicion.naming(fieldsOn:)) ?? suspicion.namingPortalsAlone }
            .setFailureType(to: FMRest.APIError.self)
            .flatMap { Fail(error: $0) }
            .eraseToAnyPublisher()
    }
}
