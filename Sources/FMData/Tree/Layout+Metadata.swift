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
    /// FileMaker Server 17 knows an older form of the call alone, which this falls back on by itself: without portals, and
    /// with fewer properties of each field.
    ///
    /// Source: Claris Data API guide, "Get layout metadata", `GET …/layouts/{layout}`, before FileMaker Server 18
    /// `GET …/layouts/{layout}/metadata`.
    public func getLayoutMetadata(recordId: Int? = nil) -> AnyPublisher<LayoutMetaData, FMRest.APIError> {
        database.layoutMetadata(of: self, recordId: recordId)
    }
}
