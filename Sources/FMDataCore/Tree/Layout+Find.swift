public import OpenCombine

extension DataAPI.Layout {
    /// The records that match a query, in one response.
    ///
    /// ```swift
    /// let found = try await people.layout.findRecords(query: FindQuery(query: [["City": "London"]]))
    ///     .returnAs(Person.self)
    ///     .firstValue()
    /// print(found.data.map(\.fieldData.name))                     // ["Ada Lovelace"]
    /// ```
    ///
    /// When nothing matches the response is empty, or the publisher fails with FileMaker code 401: the query's
    /// ``DataAPI/FindQuery/noMatch`` says which.
    ///
    /// Source: Claris Data API guide, "Perform a find request", `POST …/_find`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func findRecords<R: Decodable, P: Decodable>(
        query: DataAPI.FindQuery,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordResponse<R, P>, FMRest.APIError> {
        let query = query.looking(for: database.server.lineBreaks)
        let found: AnyPublisher<DataAPI.RecordResponse<R, P>, FMRest.APIError> =
            database.perform { try .find(in: self, query: query) }.eraseToAnyPublisher()
        let mayHaveWritten = query.options.runsScripts
        guard query.noMatch == .empty else {
            return found.delivered(on: isolation, by: database, mayHaveWritten: mayHaveWritten)
        }
        return found.tryCatch { error in
            guard error.fileMakerCode == .noRecordsMatch else { throw error }
            return Just(DataAPI.RecordResponse<R, P>.nothing(in: self, messages: error.messages))
                .setFailureType(to: FMRest.APIError.self)
        }
        .mapError(FMRest.APIError.init(wrapping:))
        .delivered(on: isolation, by: database, mayHaveWritten: mayHaveWritten)
    }

    /// The records that match a query, one by one while the answer arrives: memory use is constant, however many there
    /// are. It is one answer, of 100 records unless the query says otherwise;
    /// ``DataAPI/RecordSource/all(_:pageSize:isolation:)`` fetches all of them, page by page.
    ///
    /// See ``records(_:_:recordQuery:summary:isolation:)`` for how demand works. When nothing matches the publisher
    /// finishes without a record, or fails with FileMaker code 401: the query's ``DataAPI/FindQuery/noMatch`` says
    /// which.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - fields: the type of a record's fields.
    ///   - portals: the type of its portals; by default no portals are requested.
    ///   - findQuery: the query.
    ///   - summary: called once, before the publisher finishes, with the rest of the answer; not when nothing matches.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Perform a find request", `POST …/_find`.
    public func records<R: Decodable, P: Decodable>(
        _ fields: R.Type,
        _ portals: P.Type = DataAPI.EmptyPortal.self,
        findQuery: DataAPI.FindQuery,
        summary: (@Sendable (DataAPI.RecordsSummary) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Record<R, P>, FMRest.APIError> {
        let findQuery = findQuery.looking(for: database.server.lineBreaks)
        let found: AnyPublisher<DataAPI.Record<R, P>, FMRest.APIError> =
            stream(summary) { try .find(in: self, query: findQuery) }.eraseToAnyPublisher()
        let mayHaveWritten = findQuery.options.runsScripts
        guard findQuery.noMatch == .empty else {
            return found.delivered(on: isolation, by: database, mayHaveWritten: mayHaveWritten)
        }
        return found.tryCatch { error -> Empty<DataAPI.Record<R, P>, FMRest.APIError> in
            guard error.fileMakerCode == .noRecordsMatch else { throw error }
            return Empty()
        }
        .mapError(FMRest.APIError.init(wrapping:))
        .delivered(on: isolation, by: database, mayHaveWritten: mayHaveWritten)
    }
}

extension DataAPI.RecordResponse {
    /// An empty response, for a find without a match: FileMaker's answer is then an error that names neither table nor
    /// counts.
    package static func nothing(in layout: DataAPI.Layout, messages: [DataAPI.Message] = []) -> Self {
        Self(
            data: [],
            dataInfo: DataAPI.DataInfo(
                database: layout.database.name,
                layout: layout.name,
                table: layout.table ?? "",
                totalRecordCount: 0,
                foundCount: 0,
                returnedCount: 0,
                isReported: false
            ),
            messages: messages
        )
    }
}
