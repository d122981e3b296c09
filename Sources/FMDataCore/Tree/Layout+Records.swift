public import OpenCombine

/// The calls for records. A second subscription to a create makes a second record; a cancelled write that was already
/// sent may have been carried out.
extension DataAPI.Layout {
    /// A range of the table's records: the first 100 unless the query says otherwise.
    ///
    /// ```swift
    /// let countries = database.addLayout("Countries")
    /// let page = try await countries.getRecords(recordQuery: RecordQuery(offset: 101, limit: 100))
    ///     .returnAs(Country.self)
    ///     .firstValue()
    /// print(page.data.count, "of", page.dataInfo.foundCount)      // 100 of 249
    /// ```
    ///
    /// Fails with FileMaker code 101 when the offset lies beyond the last record, and with
    /// ``FMRest/APIError/Code/invalidRequest`` when a script's parameter cannot be sent in a URL or is too long for
    /// one.
    ///
    /// Source: Claris Data API guide, "Get a range of records", `GET …/records`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func getRecords<R: Decodable, P: Decodable>(
        recordQuery: DataAPI.RecordQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordResponse<R, P>, FMRest.APIError> {
        database.perform { try .records(of: self, query: recordQuery ?? .init()) }
            .delivered(on: isolation, by: database, mayHaveWritten: recordQuery?.options.runsScripts == true)
    }

    /// A range of the table's records, one by one while the answer arrives: memory use is constant, however many there
    /// are. It is one answer, of 100 records unless the query says otherwise;
    /// ``DataAPI/RecordSource/all(_:pageSize:isolation:)`` fetches all of them, page by page.
    ///
    /// ```swift
    /// for try await country in countries.records(Country.self, recordQuery: RecordQuery(limit: 100_000)).values {
    ///     if country.recordId == 249 { print(country.fieldData.name) }        // Zimbabwe
    /// }
    /// ```
    ///
    /// Demand reaches back to the socket: while the subscriber has no demand, the server waits, and the request's idle
    /// time does not run. An error that the server reports after records were delivered still ends the publisher as a
    /// failure.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - fields: the type of a record's fields.
    ///   - portals: the type of its portals; by default no portals are requested.
    ///   - recordQuery: which records; the default is the first 100.
    ///   - summary: called once, before the publisher finishes, with the rest of the answer.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a range of records", `GET …/records`.
    public func records<R: Decodable, P: Decodable>(
        _ fields: R.Type,
        _ portals: P.Type = DataAPI.EmptyPortal.self,
        recordQuery: DataAPI.RecordQuery? = nil,
        summary: (@Sendable (DataAPI.RecordsSummary) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Record<R, P>, FMRest.APIError> {
        stream(summary) { try .records(of: self, query: recordQuery ?? .init()) }
            .delivered(on: isolation, by: database, mayHaveWritten: recordQuery?.options.runsScripts == true)
    }

    func stream<R: Decodable, P: Decodable>(
        _ summary: (@Sendable (DataAPI.RecordsSummary) -> Void)?,
        _ makeRequest: @escaping () throws -> DataAPIRequest<DataAPI.RecordResponse<R, P>>
    ) -> AccountPeriodPublisher<DataAPI.Record<R, P>> {
        let server = database.server
        return database.perform(makeRequest, rowCount: { _ in 1 }) { request, token in
            let scripts = request.scripts
            let notes = server.notes(of: request, in: token)
            var figures = CallFigures()
            // The request is written once more for that, but only for the log.
            if notes.log != nil { figures.bytesOut = try? server.httpRequest(for: request, token: token).body.length }
            return RecordsPublisher(
                upstream: server.transmit(request, token: token),
                reader: server.reader,
                notes: notes,
                figures: figures,
                summary: summary.map { summary in
                    { @Sendable report in
                        var report = report
                        report.scriptResponse?.names = scripts
                        summary(report)
                    }
                }
            )
            .mapError { error in server.error(error, about: request) }
            .eraseToAnyPublisher()
        }
    }

    /// One record by its id.
    ///
    ///     people.record(id: 17).returnAs(Person.self)
    ///
    /// Publishes a response whose `data` has one element. Fails with FileMaker code 101 when there is no such record,
    /// and with ``FMRest/APIError/Code/invalidRequest`` when the query has an offset, a limit or a sort order, or when
    /// a script's parameter cannot be sent in a URL or is too long for one.
    ///
    /// Source: Claris Data API guide, "Get a single record", `GET …/records/{id}`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func record<R: Decodable, P: Decodable>(
        id recordId: some DataAPI.RecordIdentifier,
        query: DataAPI.RecordQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordResponse<R, P>, FMRest.APIError> {
        let recordId = LenientInt(id: recordId)
        return database.perform { try .record(recordId.recordId(), of: self, query: query ?? .init()) }
            .delivered(on: isolation, by: database, mayHaveWritten: query?.options.runsScripts == true)
    }

    /// Creates a record.
    ///
    ///     people.createRecord(record: EditRecord(createRecord: Person(name: "Ada")))
    ///
    /// Publishes the new record's id and modId. Each subscription creates a record. Fails with FileMaker codes 500 to
    /// 513 when a field's validation refuses its value; no record is created then. An `EditRecord` with a modId is for
    /// editing: it fails with ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// Source: Claris Data API guide, "Create a record", `POST …/records`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func createRecord<R: Encodable, P: Encodable>(
        record: DataAPI.EditRecord<R, P>,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        database.perform { try .create(in: self, record: record) }
            .delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    /// Creates a record with only the values that FileMaker enters by itself.
    ///
    /// Publishes the new record's id and modId. Each subscription creates a record.
    ///
    /// Source: Claris Data API guide, "Create a record", `POST …/records`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func createRecord(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        createRecord(record: DataAPI.EditRecord(createRecord: DataAPI.EmptyPortal()), isolation: isolation)
    }

    /// Changes fields of a record, and rows of its portals.
    ///
    ///     people.editRecord(record: EditRecord(editRecord: changed, modId: record.modId), recordId: record.recordId)
    ///
    /// Publishes the record's id and new modId. Fails with FileMaker code 306 when a modId was given and the record has
    /// another one by now, with 301 when another user is editing the record, with 101 when there is no such record. The
    /// edit is one commit: when it fails, nothing has changed.
    ///
    /// Source: Claris Data API guide, "Edit a record", `PATCH …/records/{id}`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func editRecord<R: Encodable, P: Encodable>(
        record: DataAPI.EditRecord<R, P>,
        recordId: some DataAPI.RecordIdentifier,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        let recordId = LenientInt(id: recordId)
        return database.perform { try .edit(recordId.recordId(), of: self, record: record) }
            .map { response in
                var response = response
                response.recordId = recordId.number
                return response
            }
            .delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    /// Deletes a record.
    ///
    /// Publishes the script results. Fails with FileMaker code 101 when there is no such record, and with
    /// ``FMRest/APIError/Code/invalidRequest`` when a script's parameter cannot be sent in a URL or is too long for
    /// one.
    ///
    /// Source: Claris Data API guide, "Delete a record", `DELETE …/records/{id}`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func deleteRecord(
        recordId: some DataAPI.RecordIdentifier,
        scriptQuery: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.ScriptResponse, FMRest.APIError> {
        let recordId = LenientInt(id: recordId)
        return database.perform { try .delete(recordId.recordId(), of: self, script: scriptQuery) }
            .delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    /// Duplicates a record.
    ///
    /// Publishes the id and modId of the new record with the script results. Each subscription creates a record. Fails
    /// with FileMaker code 101 when there is no such record.
    ///
    /// Source: Claris Data API guide, "Duplicate a record", `POST …/records/{id}`. FileMaker Server 18 and later.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func duplicateRecord(
        recordId: some DataAPI.RecordIdentifier,
        scriptQuery: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        let recordId = LenientInt(id: recordId)
        return database.perform { try .duplicate(recordId.recordId(), of: self, script: scriptQuery) }
            .delivered(on: isolation, by: database, mayHaveWritten: true)
    }
}

extension Publisher {
    /// Names the type of a response's fields where the compiler cannot infer it. The response's portals are not
    /// decoded.
    ///
    ///     people.getRecords().returnAs(Person.self)
    public func returnAs<R>(_ fields: R.Type) -> Self where Output == DataAPI.RecordResponse<R, DataAPI.EmptyPortal> {
        self
    }

    /// Names the types of a response's fields and portals where the compiler cannot infer them.
    ///
    ///     orders.getRecords().returnAs(Order.self, OrderPortals.self)
    public func returnAs<R, P>(_ fields: R.Type, _ portals: P.Type) -> Self
    where Output == DataAPI.RecordResponse<R, P> {
        self
    }
}
