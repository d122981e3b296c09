public import OpenCombine

/// Each of these publishes one value, then finishes. Nothing is sent before demand; each subscription is one request;
/// cancelling ends it on the wire.
extension DataAPI.FoundSet {
    /// The first of the records, or `nil` when there is none.
    ///
    ///     people.find { $0(.name) == "Ada" }.first()
    ///
    /// Publishes one value, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func first(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.TypedLayout<R>.Record?, FMRest.APIError> {
        firstRecord.handedOver(to: isolation, by: layout.layout.database)
    }

    /// How many records there are, as the server counts them: no record is transferred but one without portals.
    ///
    /// Publishes one number, then finishes. FileMaker Server 17 counts nothing: the publisher then fails with
    /// ``FMRest/APIError/Code/decoding``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func count(isolation: (any Actor)? = #isolation) -> AnyPublisher<Int, FMRest.APIError> {
        unsorted.of(NoFields.self).page(limit: 1)
            .tryMap { response in
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
        unsorted.of(NoFields.self).firstRecord.map { $0 != nil }.handedOver(to: isolation, by: layout.layout.database)
    }

    private var firstRecord: AnyPublisher<DataAPI.TypedLayout<R>.Record?, FMRest.APIError> {
        page(limit: 1).map(\.data.first).eraseToAnyPublisher()
    }

    /// One page, which is empty where FileMaker says that there is no record: 401 of a find, 101 of a range.
    ///
    /// - Parameters:
    ///   - offset: the first record, counted from 1.
    ///   - limit: the most records.
    func page(
        offset: Int = 1,
        limit: Int
    ) -> AnyPublisher<DataAPI.RecordResponse<R, R.Portals>, FMRest.APIError> {
        let layout = layout.layout
        let answer: AnyPublisher<DataAPI.RecordResponse<R, R.Portals>, FMRest.APIError> =
            switch request(offset: offset, limit: limit) {
            case .range(let query): layout.getRecords(recordQuery: query, isolation: nil)
            case .find(let query): layout.findRecords(query: query, isolation: nil)
            }
        return answer.replaceError(of: .noRecordsMatch, .recordMissing, with: .none(in: layout))
    }
}

extension DataAPI.RecordResponse {
    /// The answer of a server that has nothing to answer with.
    fileprivate static func none(in layout: DataAPI.Layout) -> Self {
        Self(
            data: [],
            dataInfo: DataAPI.DataInfo(
                database: layout.database.name,
                layout: layout.name,
                table: layout.table ?? "",
                totalRecordCount: 0,
                foundCount: 0,
                returnedCount: 0
            )
        )
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
    /// Of a server before FileMaker 18, whose answers hold records and nothing beside them.
    static var countNotReported: FMRest.APIError {
        FMRest.APIError(
            .decoding,
            reason: "The server's answer does not say how many records were found.",
            hint: "FileMaker Server 18 and later say so."
        )
    }
}
