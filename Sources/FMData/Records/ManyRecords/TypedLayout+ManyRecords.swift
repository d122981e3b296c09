public import OpenCombine

extension DataAPI {
    /// What to do for an id that no record has.
    public enum MissingRecords: Hashable, Sendable {
        /// Fail with FileMaker code 101, after publishing the records before it.
        case fail
        /// Leave it out.
        case skip
    }
}

extension DataAPI.TypedLayout {
    /// Records by their ids, in the order of the ids.
    ///
    ///     people.records(ids: [17, 18, 19])
    ///     people.records(ids: changedIDs, missing: .skip)
    ///
    /// Publishes the record of each id. The Data API accepts no list of ids, so each record takes a request: at most 4
    /// at a time, no more than there are sessions, and only on demand. For a list of keys, one find is enough:
    /// `find { $0(.id).isOneOf(keys) }`.
    ///
    /// Fails with FileMaker code 101 when one of the ids has no record, unless `missing` is
    /// ``DataAPI/MissingRecords/skip``; the error names the id, and the records before it were published. An id that is
    /// not a number fails with ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - recordIds: the ids. An id that occurs twice is read twice.
    ///   - missing: what to do for an id that no record has. The default is to fail.
    ///   - portals: the portals to return, as for ``record(id:portals:isolation:)``.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a single record".
    public func records<IDs: Sequence>(
        ids recordIds: IDs,
        missing: DataAPI.MissingRecords = .fail,
        portals: [DataAPI.PortalRequest]? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Record, FMRest.APIError> where IDs.Element: DataAPI.RecordIdentifier {
        let concurrency = layout.database.concurrentCalls
        let recordIds = Array(recordIds)
        return layout.database.asOneAccount { tenure in
            let records = bound(to: tenure)
            return recordIds.publisher
                .setFailureType(to: FMRest.APIError.self)
                // The window lets other requests continue for a while when one takes long.
                .orderedMap(concurrency: concurrency, window: 4 * concurrency) { recordId in
                    records.record(id: recordId, portals: portals, isolation: nil)
                        .map { [$0] }
                        .afterFailure { error, _ -> AnyPublisher<[Record], FMRest.APIError> in
                            guard error.fileMakerCode == .recordMissing else { return .failing(error) }
                            if case .skip = missing { return .of([]) }
                            return .failing(error.naming(recordId: LenientInt(id: recordId), of: layout))
                        }
                        .eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
        .delivered(on: isolation, by: database)
    }
}

extension FMRest.APIError {
    /// Adds the id of the missing record to the error's reason.
    fileprivate func naming(recordId: LenientInt, of layout: DataAPI.Layout) -> FMRest.APIError {
        guard let number = recordId.number else { return self }
        var error = self
        error.reason += " It is record \(number) on layout \"\(layout.name)\" that was asked for."
        return error
    }
}
