public import FMDataCore
public import OpenCombine

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
    ///   - pageSize: the records of each page. With `nil`, the default, the size is ``DataAPI/Config/pageSize``, or
    ///     follows the time that pages take. Pages of a given size are not made smaller when they take too long.
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

/// Each of these publishers sends one request per subscription, publishes one value, then finishes.
extension DataAPI.RecordSource {
    /// One page of the records, in their order, with the counts of the whole.
    ///
    /// ```swift
    /// let page = try await zones.find { $0(.country) == "NZ" }.sorted(by: .name)
    ///     .page(offset: 2, limit: 20).firstValue()
    /// print(page.data.map(\.name), "of", page.dataInfo.foundCount)       // ["Pacific/Chatham"] of 2
    /// ```
    ///
    /// ``all(_:pageSize:isolation:)`` reads page after page instead, and notices when records move meanwhile. If the
    /// server answers that there is no record, as it does behind the last one, the page is empty, its counts are 0, and
    /// ``DataInfo/isReported`` is `false`.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - offset: the first record, counted from 1.
    ///   - limit: the most records; the default is the server's, 100.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a range of records" and "Perform a find request".
    public func page(
        offset: Int = 1,
        limit: Int = 100,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordResponse<R, R.Portals>, FMRest.APIError> {
        let found = allRecords
        return found.part(offset: offset, limit: limit)
            .map { $0 ?? .nothing(in: found.layout.layout) }
            .delivered(on: isolation, by: database, mayHaveWritten: found.options.runsScripts)
    }

    /// The first record, or the first one that matches a condition; `nil` if there is none.
    ///
    ///     people.sorted(by: .joined).firstRecord()
    ///     people.firstRecord { $0(.name) == "Ada" }
    ///
    /// - Note: One value. See <doc:Calls>.
    public func firstRecord(
        isolation: (any Actor)? = #isolation,
        _ condition: ((DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find)? = nil
    ) -> AnyPublisher<DataAPI.TypedLayout<R>.Record?, FMRest.APIError> {
        let found = allRecords.narrowed(to: condition)
        return found.part(limit: 1).map { $0?.data.first }
            .delivered(on: isolation, by: database, mayHaveWritten: found.options.runsScripts)
    }

    /// The only record.
    ///
    /// ```swift
    /// let ada = try await people.find { $0(.name) == "Ada Lovelace" }.one().firstValue()
    /// print(ada.fieldData.city ?? "")                             // London
    /// ```
    ///
    /// Fails with FileMaker code 401 if there is no record, and with ``FMRest/APIError/Code/countDiffers`` if there are
    /// several; the error's reason says how many.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func one(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.TypedLayout<R>.Record, FMRest.APIError> {
        let found = allRecords
        return found.part(limit: 2)
            .tryMap { response in
                guard let response, let record = response.data.first else { throw FMRest.APIError.noneOfOne }
                guard response.data.count == 1 else { throw FMRest.APIError.severalOfOne(response.dataInfo) }
                return record
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .delivered(on: isolation, by: database, mayHaveWritten: found.options.runsScripts)
    }

    /// The number of records, or of those that match a condition, as the server counts them.
    ///
    ///     people.count { $0(.city) == "Calgary" }
    ///
    /// The answer transfers at most one record, without its portals. FileMaker Server 17 sends no counts: with it the
    /// publisher fails with ``FMRest/APIError/Code/decoding``.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func count(
        isolation: (any Actor)? = #isolation,
        _ condition: ((DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find)? = nil
    ) -> AnyPublisher<Int, FMRest.APIError> {
        allRecords.narrowed(to: condition).firstWithoutFields
            .tryMap { response in
                guard let response else { return 0 }
                guard response.dataInfo.isReported else { throw FMRest.APIError.countNotReported }
                return response.dataInfo.foundCount
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .delivered(on: isolation, by: database)
    }

    /// Whether there is a record, or one that matches a condition.
    ///
    ///     people.exists { $0(.email) == address }
    ///
    /// - Note: One value. See <doc:Calls>.
    public func exists(
        isolation: (any Actor)? = #isolation,
        _ condition: ((DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find)? = nil
    ) -> AnyPublisher<Bool, FMRest.APIError> {
        allRecords.narrowed(to: condition).firstWithoutFields.map { $0?.data.isEmpty == false }
            .delivered(on: isolation, by: database)
    }
}

extension DataAPI.FoundSet {
    /// The first of the records without its fields, and the counts of the whole.
    fileprivate var firstWithoutFields:
        AnyPublisher<DataAPI.RecordResponse<NoFields, NoFields.Portals>?, FMRest.APIError>
    { unsorted.of(NoFields.self).part(limit: 1) }

    /// One page of the records; `nil` if FileMaker answers that there is no record: 401 for a find, 101 for a range.
    ///
    /// - Parameters:
    ///   - offset: the first record, counted from 1.
    ///   - limit: the most records.
    func part(
        offset: Int = 1,
        limit: Int
    ) -> AnyPublisher<DataAPI.RecordResponse<R, R.Portals>?, FMRest.APIError> {
        let layout = layout.layout
        let answer: AnyPublisher<DataAPI.RecordResponse<R, R.Portals>, FMRest.APIError> =
            switch request(offset: offset, limit: limit) {
            case .range(let query): layout.getRecords(recordQuery: query, isolation: .insideACall)
            case .find(let query): layout.findRecords(query: query, isolation: .insideACall)
            }
        return answer.map(Optional.some).replaceError(of: .noRecordsMatch, .recordMissing, with: nil)
    }
}

/// No fields, for requests that only need to know whether a record exists or how many there are.
package struct NoFields: RecordFields {
    package enum CodingKeys: CodingKey {}
    init() {}
    package init(from decoder: any Decoder) {}
    package func encode(to encoder: any Encoder) {}
}

extension FMRest.APIError {
    fileprivate static var noneOfOne: FMRest.APIError {
        FMRest.APIError(
            .fileMaker,
            reason: "One record was wanted, and there is none.",
            fileMakerCode: .noRecordsMatch
        )
    }

    fileprivate static func severalOfOne(_ info: DataAPI.DataInfo) -> FMRest.APIError {
        FMRest.APIError(
            .countDiffers,
            reason: "One record was wanted, and there are \(info.isReported ? "\(info.foundCount)" : "several").",
            hint: "firstRecord() takes the first of them."
        )
    }

    /// The error for answers of servers before FileMaker 18, which hold records but no counts.
    static var countNotReported: FMRest.APIError {
        FMRest.APIError(
            .decoding,
            reason: "The server's answer does not say how many records were found.",
            hint: "FileMaker Server 18 and later say so."
        )
    }
}
