extension DataAPI.RecordSource {
    /// All records, read page after page.
    ///
    /// ```swift
    /// let inNewZealand = zones.find { $0(.country) == "NZ" }.sorted(by: .name)
    /// for try await zone in inNewZealand.all().values {
    ///     print(zone.fieldData.name)                              // Pacific/Auckland
    /// }
    /// ```
    ///
    /// Each subscription reads all records again; see ``DataAPI/RecordPages``, which also publishes the pages and the
    /// progress.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    /// - Parameters:
    ///   - mode: how changes by others during the reading are handled; ``DataAPI/Paging`` compares the modes. The
    ///     default is by place, ``DataAPI/Paging/offset``.
    ///   - pageSize: the records of each page. With `nil`, the default, the size follows the time that pages take.
    ///     Pages of a given size are not made smaller when they take too long.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a range of records", "Perform a find request".
    public func all(
        _ mode: DataAPI.Paging<R> = .offset,
        pageSize: Int? = nil,
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.RecordPages<R> {
        DataAPI.RecordPages(found: allRecords, mode: mode, pageSize: pageSize, isolation: isolation)
    }
}
