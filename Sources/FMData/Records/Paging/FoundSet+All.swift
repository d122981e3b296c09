extension DataAPI.FoundSet {
    /// Every one of the records, page after page.
    ///
    /// ```swift
    /// let inNewZealand = zones.find { $0(.country) == "NZ" }.sorted(by: .name)
    /// for try await zone in inNewZealand.all().values {
    ///     print(zone.fieldData.name)                              // Pacific/Auckland
    /// }
    /// ```
    ///
    /// Publishes each record, as far as the subscriber asks, then finishes; see ``DataAPI/RecordPages``, which also has the
    /// pages and how far it has come. Nothing is sent before demand; each subscription reads all records anew; cancelling ends
    /// the call that is on its way.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - mode: how changes that others make meanwhile are dealt with; ``DataAPI/Paging`` compares them. The default
    ///     is by place, ``DataAPI/Paging/offset``.
    ///   - pageSize: the records of each page. `nil`, the default, is as many as come in a moment. Pages of a given
    ///     size are not made smaller when they take too long.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a range of records", "Perform a find request".
    public func all(
        _ mode: DataAPI.Paging<R> = .offset,
        pageSize: Int? = nil,
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.RecordPages<R> {
        DataAPI.RecordPages(found: self, mode: mode, pageSize: pageSize, isolation: isolation)
    }
}

extension DataAPI.TypedLayout {
    /// Every record, page after page.
    ///
    ///     people.all()
    ///         .sink(receiveCompletion: { … }, receiveValue: { record in … })
    ///
    /// Publishes each record, as far as the subscriber asks, then finishes; see ``DataAPI/RecordPages``, which also has the
    /// pages and how far it has come. Nothing is sent before demand; each subscription reads all records anew; cancelling ends
    /// the call that is on its way.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - mode: how changes that others make meanwhile are dealt with; ``DataAPI/Paging`` compares them. The default
    ///     is by place, ``DataAPI/Paging/offset``.
    ///   - pageSize: the records of each page. `nil`, the default, is as many as come in a moment. Pages of a given
    ///     size are not made smaller when they take too long.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a range of records".
    public func all(
        _ mode: DataAPI.Paging<R> = .offset,
        pageSize: Int? = nil,
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.RecordPages<R> {
        allRecords.all(mode, pageSize: pageSize, isolation: isolation)
    }
}
