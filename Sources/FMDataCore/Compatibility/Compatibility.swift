// What this folder is for: programs written after the README of the package that FMData succeeds compile with their
// import changed. It holds that package's spellings of calls that have other names here, and shorthands of its calls.
// Each is one line over the real call. Tests/AncestorProgram makes every call of that README.

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

extension DataAPI.Database {
    /// The earlier spelling of ``setGlobals(_:isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func setGlobalFields(
        globalFields: [String: String],
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        setGlobals(globalFields, isolation: isolation)
    }
}

// Forms of the README that this library succeeds; see the first file of this folder.

extension DataAPI.EditRecord {
    /// Creates an edit of an existing record, with its modId as text. A text that is no number makes the call fail with
    /// ``FMRest/APIError/Code/invalidRequest``.
    @_disfavoredOverload
    public init(
        editRecord: R,
        portalData: P? = DataAPI.EmptyPortal?.none,
        modId: String?,
        script: DataAPI.ScriptQuery? = nil
    ) {
        self.init(editRecord: editRecord, portalData: portalData, script: script)
        givenModId = LenientInt(text: modId)
    }

    /// `layoutResponse` is not sent: create and edit answer with ids, not with records.
    @available(*, deprecated, message: "Create and edit answer with ids only: leave layoutResponse out.")
    public init(
        editRecord: R,
        portalData: P? = DataAPI.EmptyPortal?.none,
        modId: Int? = nil,
        script: DataAPI.ScriptQuery? = nil,
        layoutResponse: String?
    ) {
        self.init(editRecord: editRecord, portalData: portalData, modId: modId, script: script)
    }

    /// `layoutResponse` is not sent: create and edit answer with ids, not with records.
    @available(*, deprecated, message: "Create and edit answer with ids only: leave layoutResponse out.")
    @_disfavoredOverload
    public init(
        editRecord: R,
        portalData: P? = DataAPI.EmptyPortal?.none,
        modId: String?,
        script: DataAPI.ScriptQuery? = nil,
        layoutResponse: String?
    ) {
        self.init(editRecord: editRecord, portalData: portalData, modId: modId, script: script)
    }

    /// `layoutResponse` is not sent: create and edit answer with ids, not with records.
    @available(*, deprecated, message: "Create and edit answer with ids only: leave layoutResponse out.")
    public init(
        createRecord: R,
        portalData: P? = DataAPI.EmptyPortal?.none,
        script: DataAPI.ScriptQuery? = nil,
        layoutResponse: String?
    ) {
        self.init(createRecord: createRecord, portalData: portalData, script: script)
    }
}

// Numbers that programs written for the README that this library succeeds give as texts. `LenientInt` keeps such a text
// until the request is made, which refuses one that is no number.

extension DataAPI.RecordQuery {
    /// Creates a query with offset and limit as texts. A text that is no number makes the call fail with
    /// ``FMRest/APIError/Code/invalidRequest``.
    @_disfavoredOverload
    public init(
        script: DataAPI.ScriptQuery? = nil,
        layoutResponse: String? = nil,
        portal: [DataAPI.PortalRequest]? = nil,
        offset: String? = nil,
        limit: String? = nil,
        sortOrder: [DataAPI.SortQuery]? = nil
    ) {
        self.init(script: script, layoutResponse: layoutResponse, portal: portal, sortOrder: sortOrder)
        options.givenOffset = LenientInt(text: offset)
        options.givenLimit = LenientInt(text: limit)
    }
}
