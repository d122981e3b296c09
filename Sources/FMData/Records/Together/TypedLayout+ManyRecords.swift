public import OpenCombine

extension DataAPI {
    /// What becomes of an id that no record has.
    public enum MissingRecords: Hashable, Sendable {
        /// The publisher fails with FileMaker code 101, after the records before it.
        case fail
        /// It is left out.
        case skip
    }
}

extension DataAPI.TypedLayout {
    /// Records by their ids, in the order of the ids.
    ///
    ///     people.records([17, 18, 19])
    ///     people.records(changedIDs, missing: .skip)
    ///
    /// Publishes the record of each id as far as the subscriber asks, then finishes. The Data API takes no list of ids, so each
    /// is a request: up to 4 at a time, as many as there are sessions, and no more than are asked for. For a list of keys one
    /// find does: `find { $0(.id).isOneOf(keys) }`. Nothing is sent before demand; each subscription reads anew; cancelling ends
    /// all requests on the wire.
    ///
    /// Fails with FileMaker code 101 when there is no record with one of the ids, which the error names, unless `missing` says
    /// that it is left out; the records before it have been published then. An id that is no number fails with
    /// ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - recordIds: the ids. One that comes twice is read twice.
    ///   - missing: what becomes of an id that no record has. The default is a failure.
    ///   - portals: the portals to return, as for ``record(_:portals:isolation:)``.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a single record".
    public func records<IDs: Sequence>(
        _ recordIds: IDs,
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
                // One that takes its time does not keep the others from going on for a while.
                .orderedMap(concurrency: concurrency, window: 4 * concurrency) { recordId in
                    records.record(recordId, portals: portals, isolation: nil)
                        .map { [$0] }
                        .afterFailure { error, _ -> AnyPublisher<[Record], FMRest.APIError> in
                            guard error.fileMakerCode == .recordMissing else { return .failing(error) }
                            if case .skip = missing { return .of([]) }
                            return .failing(error.naming(recordId: GivenNumber(id: recordId), of: layout))
                        }
                        .eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
        .handedOver(to: isolation, by: layout.database)
    }
}

extension FMRest.APIError {
    /// Says which record is missing.
    fileprivate func naming(recordId: GivenNumber, of layout: DataAPI.Layout) -> FMRest.APIError {
        guard let number = recordId.number else { return self }
        var error = self
        error.reason += " It is record \(number) on layout \"\(layout.name)\" that was asked for."
        return error
    }
}
