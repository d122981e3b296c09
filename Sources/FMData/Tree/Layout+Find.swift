public import OpenCombine

extension DataAPI.Layout {
    /// The records that match.
    ///
    /// ```swift
    /// let found = try await people.layout.findRecords(query: FindQuery(query: [["City": "London"]]))
    ///     .returnAs(Person.self)
    ///     .firstValue()
    /// print(found.data.map(\.fieldData.name))                     // ["Ada Lovelace"]
    /// ```
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one request, or several when
    /// the query allows a ``DataAPI/Find`` as many; cancelling ends it on the wire. When nothing matches the response is
    /// empty, or the publisher fails with FileMaker code 401: the query's ``DataAPI/FindQuery/noMatch`` says which.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Perform a find request", `POST …/_find`.
    public func findRecords<R: Decodable, P: Decodable>(
        query: DataAPI.FindQuery,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordResponse<R, P>, FMRest.APIError> {
        let query = query.looking(for: database.server.lineBreaks)
        let found: AnyPublisher<DataAPI.RecordResponse<R, P>, FMRest.APIError> =
            if case .success(let plan) = query.plan {
                find(query, in: plan)
            } else {
                database.perform { try .find(in: self, query: query) }
            }
        let mayHaveWritten = query.options.runsScripts
        guard query.noMatch == .empty else {
            return found.handedOver(to: isolation, by: database, mayHaveWritten: mayHaveWritten)
        }
        return found.tryCatch { error in
            guard error.fileMakerCode == .noRecordsMatch else { throw error }
            return Just(DataAPI.RecordResponse<R, P>.nothing(in: self, messages: error.messages))
                .setFailureType(to: FMRest.APIError.self)
        }
        .mapError(FMRest.APIError.init(wrapping:))
        .handedOver(to: isolation, by: database, mayHaveWritten: mayHaveWritten)
    }

    /// The records that match, one by one while the answer arrives: constant memory, however many there are. It is one answer,
    /// of 100 records unless the query says otherwise; ``DataAPI/FoundSet/all(_:pageSize:isolation:)`` goes on to the next.
    ///
    /// Publishes each record, as far as the subscriber asks, then finishes; see
    /// ``records(_:_:recordQuery:summary:isolation:)``. When nothing matches it finishes without a record, or fails with
    /// FileMaker code 401: the query's ``DataAPI/FindQuery/noMatch`` says which. A find that takes several calls is put
    /// together first, and then published record by record.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - fields: what the fields of a record are.
    ///   - portals: what its portals are; the default is that none are asked for.
    ///   - findQuery: which records.
    ///   - summary: called once, before the publisher finishes, with what the answer says beside its records; not when
    ///     nothing matches.
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
            if case .success(let plan) = findQuery.plan {
                OnDemandPublisher {
                    find(findQuery, in: plan).flatMap { $0.recordByRecord(summary) }.eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
            } else {
                stream(summary) { try .find(in: self, query: findQuery) }
            }
        let mayHaveWritten = findQuery.options.runsScripts
        guard findQuery.noMatch == .empty else {
            return found.handedOver(to: isolation, by: database, mayHaveWritten: mayHaveWritten)
        }
        return found.tryCatch { error -> Empty<DataAPI.Record<R, P>, FMRest.APIError> in
            guard error.fileMakerCode == .noRecordsMatch else { throw error }
            return Empty()
        }
        .mapError(FMRest.APIError.init(wrapping:))
        .handedOver(to: isolation, by: database, mayHaveWritten: mayHaveWritten)
    }
}

extension DataAPI.RecordResponse {
    /// The answer of a server that has nothing to answer with: FileMaker's is then an error that says neither table nor counts.
    static func nothing(in layout: DataAPI.Layout, messages: [DataAPI.Message] = []) -> Self {
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
