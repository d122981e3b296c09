import FMHTTP
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
            .flatMap { invalid in invalid.isEmpty ? write : .failing(self.naming(request, in: .invalid(invalid), call))
            }
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

extension WriteValidation.Write {
    /// The fields and portal rows that a request writes to a record; `nil` when it writes none.
    init?<Response>(_ request: DataAPIRequest<Response>) {
        guard let fields = request.options.first(where: { $0.names == .fields && $0.name == "fieldData" }) else {
            return nil
        }
        self.init(
            fields: fields.value.members.filter { !DataAPIName.isInstruction($0.name) },
            isNew: request.method == .POST
        )
        let portals = request.options.first { $0.names == .portalRows }?.value.members ?? []
        rows = portals.flatMap { portal in
            portal.value.elements.map { row in
                let isNew = !row.members.contains { $0.name == "recordId" }
                let fields = row.members.filter { !DataAPIName.isIdentity($0.name) }
                return (portal: portal.name, isNew: isNew, fields: fields)
            }
        }
        let options = request.options.first { $0.name == "options" }?.value.members ?? []
        isOfScript = options.contains { $0.name == "entrymode" && $0.value.text == "script" }
    }
}
