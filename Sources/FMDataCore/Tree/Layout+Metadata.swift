public import OpenCombine

extension DataAPI.Layout {
    /// The layout's fields, portals and value lists.
    ///
    /// Fails with FileMaker code 105 when there is no such layout.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - recordId: the record for which value lists limited to related values are worked out. Without it those lists
    ///     are empty.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// FileMaker Server 17 has only an older form of the call: without portals, and with fewer properties of each
    /// field. This call falls back on it.
    ///
    /// Source: Claris Data API guide, "Get layout metadata", `GET …/layouts/{layout}`, before FileMaker Server 18
    /// `GET …/layouts/{layout}/metadata`.
    public func getLayoutMetadata(
        recordId: Int? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<LayoutMetaData, FMRest.APIError> {
        Deferred {
            let database = self.database.forOneCall
            return database.perform { .layoutMetadata(of: self, recordId: recordId) }
                .afterFailure { error, _ -> AnyPublisher<LayoutMetaData, FMRest.APIError> in
                    guard error.meansNoSuchEndpoint else { return Fail(error: error).eraseToAnyPublisher() }
                    return database.perform { .oldLayoutMetadata(of: self) }
                        // When the server knows neither form, its first refusal describes it best.
                        .mapError { $0.meansNoSuchEndpoint ? error : $0 }
                        .eraseToAnyPublisher()
                }
        }
        .delivered(on: isolation, by: database)
    }
}

extension DataAPI.Layout {
    /// Makes a call with the description of the layout, which is requested if it is not known; `nil` when the host does
    /// not return it.
    package func described<Value>(
        call: @escaping (LayoutMetaData?) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        OnDemandPublisher {
            let database = self.database.forOneCall
            if let known = database.accountPeriod.layoutMemory.known(self.name) { return call(known) }
            return database.answer(to: .layout(self.name), database.calls)
                .map { answer in if case .layout(let metadata) = answer { metadata } else { nil } }
                .setFailureType(to: FMRest.APIError.self)
                .flatMap(call)
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
}

extension FMRest.APIError {
    /// Whether the server does not know the path of the call: HTTP 404, whatever its body, or FileMaker code 1700.
    fileprivate var meansNoSuchEndpoint: Bool { httpStatus == 404 || fileMakerCode == .resourceMissing }
}
