public import OpenCombine

extension DataAPI.Layout {
    /// The earlier spelling of ``record(id:query:isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func getRecordById<R: Decodable, P: Decodable>(
        recordId: some DataAPI.RecordIdentifier,
        recordQuery: DataAPI.RecordQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordResponse<R, P>, FMRest.APIError> {
        record(id: recordId, query: recordQuery, isolation: isolation)
    }

    /// The earlier spelling of ``runScript(_:parameter:isolation:)``, with a text as the parameter.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func executeScript(
        script: String,
        scriptParam: String? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.ScriptResponse, FMRest.APIError> {
        runScript(script, parameter: scriptParam.map(DataAPI.ScriptParameter.text), isolation: isolation)
    }

    /// The earlier spelling of ``uploadContainer(_:to:recordId:repetition:modId:onProgress:isolation:)``, which
    /// publishes an empty value instead of the record's new version.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func uploadToContainerField(
        fieldName: String,
        recordId: some DataAPI.RecordIdentifier,
        repetition: Int? = nil,
        modId: Int? = nil,
        file: FMRest.ContainerFile,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        uploadContainer(
            file,
            to: fieldName,
            recordId: recordId,
            repetition: repetition,
            modId: modId,
            isolation: isolation
        )
        .map { FMRest.EmptyResponse(messages: $0.messages) }
        .eraseToAnyPublisher()
    }
}
