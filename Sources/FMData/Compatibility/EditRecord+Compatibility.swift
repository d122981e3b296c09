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
