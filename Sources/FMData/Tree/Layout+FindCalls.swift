import OpenCombine

extension DataAPI.Layout {
    /// A find that takes several calls, or none: the whole found set of each call is fetched, one call after the other,
    /// and the results are combined. Fails with code 401, as a host does, when nothing matches.
    func find<R: Decodable, P: Decodable>(
        _ query: DataAPI.FindQuery,
        in plan: FindPlan
    ) -> AnyPublisher<DataAPI.RecordResponse<R, P>, FMRest.APIError> {
        OnDemandPublisher {
            do {
                _ = try query.wireOptions(dateFormats: nil)
                try Self.checkScripts(of: query, plan)
            } catch {
                return Fail(error: FMRest.APIError(wrapping: error)).eraseToAnyPublisher()
            }
            guard plan.callCount > 0 else { return Fail(error: .noMatch).eraseToAnyPublisher() }
            let layout = self.forOneCall
            return layout.sort(of: query).flatMap { sort in
                plan.parts.joined().publisher
                    // When one of its publishers fails, OpenCombine's `flatMap` never releases the remaining calls, nor
                    // do they release it, the layout and the server. So none of them fails: the errors are values, and
                    // the next operator throws them, which cancels.
                    .flatMap(maxPublishers: .max(1)) { call in
                        layout.answer(of: call, for: query) as AnyPublisher<CallAnswer<R, P>, Never>
                    }
                    .tryReduce(FindUnion<R, P>(plan)) { union, answer in
                        var union = union
                        let response = try answer.get()
                        // A format that the host names is known only after the first answer.
                        try union.add(response, sort, format: layout.database.server.encoding.values.format)
                        return union
                    }
                    .tryMap { union in
                        let response = union.response(sort, offset: query.offset ?? 1, limit: query.limit ?? 100)
                        guard let response else { throw FMRest.APIError.noMatch }
                        return response
                    }
                    .mapError(FMRest.APIError.init(wrapping:))
            }
            .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    private static func checkScripts(of query: DataAPI.FindQuery, _ plan: FindPlan) throws(FMRest.APIError) {
        guard query.options.runsScripts else { return }
        throw FMRest.APIError(
            .invalidRequest,
            reason: plan.callCount == 0
                ? "The find can match nothing, so that no call is made which could run the query's scripts."
                : "The find takes \(plan.callCount) calls, and each would run the query's scripts."
        )
    }

    /// Publishes how the combined records are sorted. Only the layout's metadata name the fields' types and value
    /// lists.
    private func sort(of query: DataAPI.FindQuery) -> AnyPublisher<FindSort, FMRest.APIError> {
        let order = query.sort ?? []
        guard !order.isEmpty else {
            return Result { () throws(FMRest.APIError) in try FindSort([], nil) }.publisher
                .eraseToAnyPublisher()
        }
        return database.addLayout(query.layoutResponse ?? name).getLayoutMetadata(isolation: .insideACall)
            .tryMap { try FindSort(order, $0) }
            .mapError(FMRest.APIError.init(wrapping:))
            .eraseToAnyPublisher()
    }

    /// All records that one call finds, `nil` for none; or its error.
    private typealias CallAnswer<R: Decodable, P: Decodable> = Result<
        DataAPI.RecordResponse<Sortable<R>, P>?, FMRest.APIError
    >

    private func answer<R: Decodable, P: Decodable>(
        of call: FindPlan.Call,
        for query: DataAPI.FindQuery
    ) -> AnyPublisher<CallAnswer<R, P>, Never> {
        var query = query
        query.query = call.map(\.request.dictionary)
        query.sort = nil
        query.offset = nil
        // A limit above the number of records that a file can hold.
        query.limit = Int(Int32.max)
        return database.perform { [query] in
            try DataAPIRequest<DataAPI.RecordResponse<Sortable<R>, P>>.find(in: self, query: query)
        }
        .map { .success($0) }
        .afterFailure { error, _ in Just(error.fileMakerCode == .noRecordsMatch ? .success(nil) : .failure(error)) }
        .eraseToAnyPublisher()
    }
}

extension FMRest.APIError {
    /// The error that a host answers to a find without matches.
    fileprivate static var noMatch: FMRest.APIError {
        FMRest.APIError(
            .fileMaker,
            reason: "No records match the request",
            fileMakerCode: .noRecordsMatch,
            messages: [DataAPI.Message(code: "401", message: "No records match the request")]
        )
    }
}

extension DataAPI.RecordResponse {
    /// The records one by one; `summary` receives the rest of the response before the end.
    func recordByRecord(
        _ summary: (@Sendable (DataAPI.RecordsSummary) -> Void)?
    ) -> AnyPublisher<Record, FMRest.APIError> {
        data.publisher
            .setFailureType(to: FMRest.APIError.self)
            .handleEvents(receiveCompletion: { _ in
                summary?(
                    DataAPI.RecordsSummary(
                        dataInfo: dataInfo,
                        scriptResponse: scriptResponse,
                        messages: messages,
                        recordCount: data.count
                    )
                )
            })
            .eraseToAnyPublisher()
    }
}

/// Combines the answers of a find that needs several calls.
struct FindUnion<R, P> {
    typealias Record = DataAPI.Record<R, P>
    typealias Member = (record: Record, keys: [FindSort.Key])

    private let plan: FindPlan
    private var part = 0
    private var callsOfPart = 0
    /// The records found by all calls of the current part so far.
    private var common: [Int: Member] = [:]
    /// The records found by the parts before it, each once, as it was fetched last.
    private var found: [Int: Member] = [:]
    private var dataInfo: DataAPI.DataInfo?
    private var messages: [DataAPI.Message] = []

    init(_ plan: FindPlan) {
        self.plan = plan
    }

    /// Adds the answer of the next call.
    ///
    /// - Parameters:
    ///   - response: The answer; `nil` if it found nothing.
    ///   - format: The format of the dates in it.
    mutating func add(
        _ response: DataAPI.RecordResponse<Sortable<R>, P>?,
        _ sort: FindSort,
        format: ValueFormat
    ) throws(FMRest.APIError) {
        var answer: [Int: Member] = [:]
        for record in response?.data ?? [] where callsOfPart == 0 || common[record.recordId] != nil {
            answer[record.recordId] = (
                record.withoutSortFields(), try sort.keys(of: record.fieldData.fields, format: format)
            )
        }
        common = answer
        if let response {
            dataInfo = response.dataInfo
            messages = response.messages
        }
        callsOfPart += 1
        if callsOfPart == plan.parts[part].count {
            found.merge(common) { _, later in later }
            (part, callsOfPart, common) = (part + 1, 0, [:])
        }
    }

    /// The answer as one call would have given it; `nil` if nothing was found, or if the offset is beyond the last
    /// record.
    func response(_ sort: FindSort, offset: Int, limit: Int) -> DataAPI.RecordResponse<R, P>? {
        guard var dataInfo, offset <= found.count else { return nil }
        let members = found.values.sorted {
            sort.areInOrder(($0.keys, $0.record.recordId), ($1.keys, $1.record.recordId))
        }
        let page = members.dropFirst(offset - 1).prefix(limit).map(\.record)
        dataInfo.foundCount = found.count
        dataInfo.returnedCount = page.count
        return DataAPI.RecordResponse(data: page, dataInfo: dataInfo, messages: messages)
    }
}

/// The fields of a record as a value, and as they came, for sorting.
struct Sortable<R> {
    var value: R
    var fields: FieldData
}

extension Sortable: Decodable where R: Decodable {
    init(from decoder: any Decoder) throws {
        value = try AsFields<R>(from: decoder).value
        fields = try AsFields<FieldData>(from: decoder).value
    }
}

extension DataAPI.Record {
    fileprivate func withoutSortFields<Fields>() -> DataAPI.Record<Fields, P> where R == Sortable<Fields> {
        DataAPI.Record<Fields, P>(
            fieldData: fieldData.value,
            portalData: portalData,
            recordId: recordId,
            modId: modId,
            portalDataInfo: portalDataInfo
        )
    }
}
