extension DataAPI {
    /// Records that can be read: all those of a ``TypedLayout``, or those of a ``FoundSet``.
    ///
    /// Calls that read records, page after page or as they change, are calls of this protocol. So a layout and a found
    /// set offer the same ones, and a function of yours can take either:
    ///
    /// ```swift
    /// func names(of source: some DataAPI.RecordSource<Person>) async throws -> [String] {
    ///     try await source.sorted(by: .name).all().map(\.fieldData.name).collect().firstValue()
    /// }
    /// print(try await names(of: people.find { $0(.city) == "London" }))          // ["Ada Lovelace"]
    /// ```
    public protocol RecordSource<R>: Calling, Sendable {
        /// The type of the records.
        associatedtype R: RecordFields

        /// The records as a found set.
        var allRecords: FoundSet<R> { get }
    }
}

extension DataAPI.TypedLayout: DataAPI.RecordSource {
    /// All records, in the order of their creation, as "Show All Records" shows them.
    ///
    ///     let wanted = city.map { city in people.find { $0(.city) == city } } ?? people.allRecords
    ///
    /// The found set is a description and holds no records: creating it sends nothing, and each of its calls asks the
    /// server again. ``DataAPI/RecordSource/all(_:pageSize:isolation:)`` reads the records.
    public var allRecords: DataAPI.FoundSet<R> { DataAPI.FoundSet(layout: self) }
}

extension DataAPI.FoundSet: DataAPI.RecordSource {
    /// The found set itself.
    public var allRecords: DataAPI.FoundSet<R> { self }
}

extension DataAPI.RecordSource {
    var database: DataAPI.Database { allRecords.layout.layout.database }
}
