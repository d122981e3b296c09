public import OpenCombine

/// Each of these publishes one value, then finishes. Nothing is sent before demand; each subscription is one request;
/// cancelling ends it on the wire.
extension DataAPI.FoundSet {
    /// A part of the records, with how many there are of all: as they lie in the order of the found set.
    ///
    /// ```swift
    /// let page = try await zones.find { $0(.country) == "NZ" }.sorted(by: .name).page(offset: 2, limit: 20).firstValue()
    /// print(page.data.map(\.name), "of", page.dataInfo.foundCount)       // ["Pacific/Chatham"] of 2
    /// ```
    ///
    /// Publishes one value, then finishes; ``all(_:pageSize:isolation:)`` reads page after page, and notices when records move
    /// meanwhile. Where the server says that there is no record, as behind the last one, the page is empty, its counts are 0, and
    /// ``DataInfo/isReported`` is `false`.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
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
        let layout = layout.layout
        return part(offset: offset, limit: limit)
            .map { $0 ?? .nothing(in: layout) }
            .handedOver(to: isolation, by: layout.database, mayHaveWritten: options.runsScripts)
    }

    /// The first of the records, or `nil` when there is none.
    ///
    ///     people.find { $0(.city) == "Calgary" }.sorted(by: .joined).firstRecord()
    ///
    /// Publishes one value, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func firstRecord(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.TypedLayout<R>.Record?, FMRest.APIError> {
        part(limit: 1).map { $0?.data.first }
            .handedOver(to: isolation, by: layout.layout.database, mayHaveWritten: options.runsScripts)
    }

    /// The only one of the records.
    ///
    /// ```swift
    /// let ada = try await people.find { $0(.name) == "Ada Lovelace" }.one().firstValue()
    /// print(ada.fieldData.city ?? "")                             // London
    /// ```
    ///
    /// Publishes one record, then finishes. Fails with FileMaker code 401 when there is none, and with
    /// ``FMRest/APIError/Code/countDiffers`` when there are several, of which the reason says how many.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func one(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.TypedLayout<R>.Record, FMRest.APIError> {
        part(limit: 2)
            .tryMap { response in
                guard let response, let record = response.data.first else { throw FMRest.APIError.noneOfOne }
                guard response.data.count == 1 else { throw FMRest.APIError.severalOfOne(response.dataInfo) }
                return record
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .handedOver(to: isolation, by: layout.layout.database, mayHaveWritten: options.runsScripts)
    }

    /// How many records there are, as the server counts them: no record is transferred but one without portals.
    ///
    /// Publishes one number, then finishes. FileMaker Server 17 counts nothing: the publisher then fails with
    /// ``FMRest/APIError/Code/decoding``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func count(isolation: (any Actor)? = #isolation) -> AnyPublisher<Int, FMRest.APIError> {
        unsorted.of(NoFields.self).part(limit: 1)
            .tryMap { response in
                guard let response else { return 0 }
                guard response.dataInfo.isReported else { throw FMRest.APIError.countNotReported }
                return response.dataInfo.foundCount
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .handedOver(to: isolation, by: layout.layout.database)
    }

    /// Whether there is such a record.
    ///
    /// Publishes one value, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func exists(isolation: (any Actor)? = #isolation) -> AnyPublisher<Bool, FMRest.APIError> {
        unsorted.of(NoFields.self).part(limit: 1).map { $0?.data.isEmpty == false }
            .handedOver(to: isolation, by: layout.layout.database)
    }

    /// A part of the records; `nil` where FileMaker says that there is no record: 401 of a find, 101 of a range.
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
            case .range(let query): layout.getRecords(recordQuery: query, isolation: nil)
            case .find(let query): layout.findRecords(query: query, isolation: nil)
            }
        return answer.map(Optional.some).replaceError(of: .noRecordsMatch, .recordMissing, with: nil)
    }
}

/// The fields of a record of which only that it is there matters.
struct NoFields: RecordFields {
    enum CodingKeys: CodingKey {}
    init() {}
    init(from decoder: any Decoder) {}
    func encode(to encoder: any Encoder) {}
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

    /// Of a server before FileMaker 18, whose answers hold records and nothing beside them.
    static var countNotReported: FMRest.APIError {
        FMRest.APIError(
            .decoding,
            reason: "The server's answer does not say how many records were found.",
            hint: "FileMaker Server 18 and later say so."
        )
    }
}
