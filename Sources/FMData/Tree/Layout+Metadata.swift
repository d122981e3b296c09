public import OpenCombine

extension DataAPI.Layout {
    /// The layout's fields, portals and value lists.
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one request; cancelling ends
    /// it on the wire. Fails with FileMaker code 105 when there is no such layout.
    ///
    /// - Parameter recordId: the record for which value lists limited to related values are worked out. Without it they
    ///   are empty.
    ///
    /// Source: Claris Data API guide, "Get layout metadata", `GET …/layouts/{layout}`. FileMaker Server 18 and later.
    public func getLayoutMetadata(recordId: Int? = nil) -> AnyPublisher<LayoutMetaData, FMRest.APIError> {
        database.perform { .layoutMetadata(of: self, recordId: recordId) }
    }
}
