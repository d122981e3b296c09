public import OpenCombine

extension DataAPI.TypedLayout {
    /// The records that match: a ``DataAPI/FoundSet``, of which nothing is asked yet.
    ///
    ///     people.find { $0(.city) == "Calgary" && $0(.age) >= 18 }.sorted(by: .name).all()
    ///
    /// See ``DataAPI/Find`` for what can be said. With ``FieldData`` for records the fields are named by texts:
    /// `find { $0("City") == "Calgary" }`.
    public func find(_ condition: (DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find) -> DataAPI.FoundSet<R> {
        find(DataAPI.Find(R.CodingKeys.self, condition))
    }

    /// The records that match a find that was made before.
    public func find(_ find: DataAPI.Find) -> DataAPI.FoundSet<R> {
        DataAPI.FoundSet(layout: self, find: find)
    }

    /// All records, in an order; see ``DataAPI/FoundSet/sorted(by:_:)``.
    public func sorted(
        by field: R.CodingKeys,
        _ order: DataAPI.SortQuery.Order = .ascending
    ) -> DataAPI.FoundSet<R> {
        allRecords.sorted(by: field, order)
    }

    /// The first record, of all or of those that match; `nil` when there is none.
    ///
    ///     people.firstRecord { $0(.name) == "Ada" }
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one request; cancelling ends
    /// it on the wire.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func firstRecord(
        isolation: (any Actor)? = #isolation,
        _ condition: ((DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find)? = nil
    ) -> AnyPublisher<Record?, FMRest.APIError> {
        found(condition).firstRecord(isolation: isolation)
    }

    /// How many records there are, or match; see ``DataAPI/FoundSet/count(isolation:)``.
    ///
    ///     people.count { $0(.city) == "Calgary" }
    ///
    /// Publishes one number, then finishes. Nothing is sent before demand; each subscription is one request; cancelling ends
    /// it on the wire.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func count(
        isolation: (any Actor)? = #isolation,
        _ condition: ((DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find)? = nil
    ) -> AnyPublisher<Int, FMRest.APIError> {
        found(condition).count(isolation: isolation)
    }

    /// Whether there is a record, or one that matches.
    ///
    ///     people.exists { $0(.email) == address }
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one request; cancelling ends
    /// it on the wire.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func exists(
        isolation: (any Actor)? = #isolation,
        _ condition: ((DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find)? = nil
    ) -> AnyPublisher<Bool, FMRest.APIError> {
        found(condition).exists(isolation: isolation)
    }

    private func found(
        _ condition: ((DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find)?
    ) -> DataAPI.FoundSet<R> {
        condition.map { find($0) } ?? allRecords
    }

    /// One record by its id.
    ///
    ///     people.record(17)
    ///
    /// Publishes one record, then finishes. Fails with FileMaker code 101 when there is none. Nothing is sent before demand;
    /// each subscription is one request; cancelling ends it on the wire.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - recordId: the record.
    ///   - portals: the portals to return; `nil`, the default, is all of the layout if the record's type has some, 50
    ///     rows of each.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a single record".
    public func record(
        _ recordId: some DataAPI.RecordIdentifier,
        portals: [DataAPI.PortalRequest]? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Record, FMRest.APIError> {
        recordResponse(recordId, DataAPI.ReadOptions(portal: portals), isolation: nil)
            .tryMap { response in
                guard let record = response.data.first else { throw FMRest.APIError.noRecordInAnswer }
                return record
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .handedOver(to: isolation, by: layout.database)
    }

    /// One record by its id, with what the answer says beside it: the results of scripts, the messages.
    ///
    ///     orders.recordResponse(17, ReadOptions(script: ScriptQuery(script: "Mark as seen")))
    ///
    /// Publishes one value, whose `data` has one element, then finishes; see
    /// ``Layout/getRecordById(recordId:recordQuery:isolation:)``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - recordId: the record.
    ///   - options: its portals, which are by default those of the layout if the record's type has some; the layout that shapes the
    ///     answer; the scripts. A single record has no offset, limit or sort order.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a single record".
    public func recordResponse(
        _ recordId: some DataAPI.RecordIdentifier,
        _ options: DataAPI.ReadOptions,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordResponse<R, R.Portals>, FMRest.APIError> {
        var options = options
        options.portal = options.portal ?? allRecords.options.portal
        return layout.getRecordById(
            recordId: recordId,
            recordQuery: DataAPI.RecordQuery(options),
            isolation: isolation
        )
    }

    var server: DataAPI.Server { layout.database.server }
}

extension FMRest.APIError {
    fileprivate static var noRecordInAnswer: FMRest.APIError {
        FMRest.APIError(.decoding, reason: "The server was asked for one record and answered with none.")
    }
}
