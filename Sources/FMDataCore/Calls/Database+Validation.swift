import OpenCombine

extension DataAPI.Database {
    /// The write, or a failure if the rules of its call refuse it; then nothing is sent.
    func validating<Response, Value>(
        _ request: DataAPIRequest<Response>,
        _ call: CallContext,
        _ write: AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        guard let validation = call.options.validation, let layout = request.layout,
            let written = WriteValidation.Write(request)
        else { return write }
        return DataAPI.Layout(name: layout, database: DataAPI.Database(self, calls: call))
            .validating(written, by: validation)
            .flatMap { invalid in invalid.isEmpty ? write : .failing(.invalid(invalid)) }
            .eraseToAnyPublisher()
    }
}

extension DataAPI.Layout {
    /// Publishes the invalid values of a write.
    func validating(
        _ write: WriteValidation.Write,
        by validation: WriteValidation
    ) -> AnyPublisher<[DataAPI.InvalidValue], FMRest.APIError> {
        func invalidValues(_ layout: LayoutMetaData?) -> AnyPublisher<[DataAPI.InvalidValue], FMRest.APIError> {
            .of(validation.invalidValues(in: write, layout, format: database.server.encoding.values.format))
        }
        guard validation.followsLayout, !write.isOfScript else { return invalidValues(nil) }
        return described(call: invalidValues)
    }
}
