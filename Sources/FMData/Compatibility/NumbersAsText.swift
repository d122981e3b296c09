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
