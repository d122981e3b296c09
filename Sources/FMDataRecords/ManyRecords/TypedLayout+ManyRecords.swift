public import FMDataCore
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
        return layout.database.asOneAccount { accountPeriod in
            let records = bound(to: accountPeriod)
            return recordIds.publisher
                .setFailureType(to: FMRest.APIError.self)
                // The window lets other requests continue for a while when one takes long.
                .orderedMap(concurrency: concurrency, window: 4 * concurrency) { recordId in
                    records.record(id: recordId, portals: portals, isolation: .insideACall)
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

extension DataAPI.Database {
    /// How many calls an operation of many calls makes at a time. Each call holds a session, and other callers need
    /// sessions, too.
    var concurrentCalls: Int { concurrentCalls(nil) }

    /// - Parameter wanted: how many the caller wants; `nil` for 4. Never more than ``maximumConcurrentCalls``.
    func concurrentCalls(_ wanted: Int?) -> Int { max(1, min(wanted ?? 4, maximumConcurrentCalls)) }

    /// How many calls can be under way at once: one in each session, with a key one on each connection.
    package var maximumConcurrentCalls: Int {
        switch sessions {
        case .pool: accountPeriod.key == nil ? server.config.sessions.maximumSessions : server.config.maximumConnections
        // One session answers one request after the other.
        case .pinned: 1
        }
    }
}

extension DataAPI.Server {
    /// Calls back after the work that is due at this moment.
    func yield(to taker: any TurnReceiver) {
        _ = time.schedule(time.now()) { [weak taker] in taker?.turnPassed() }
    }
}

extension DataAPI.TypedLayout {
    /// Puts a file into a container field of a record.
    ///
    /// ```swift
    /// let bow = FMRest.ContainerFile(fileName: "bow.txt", data: Data("A bow".utf8))
    /// let uploaded = try await people.upload(bow, to: .photo, of: 3).firstValue()
    /// let photo = try await people.download(.photo, of: 3).toMemory(upTo: 10_000_000).firstValue()
    /// print(photo.fileName ?? "", uploaded.messages[0].code)      // bow.txt 0
    /// ```
    ///
    /// The value contains the record's new modId; see
    /// ``Layout/uploadContainer(_:to:recordId:repetition:modId:onProgress:isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - file: what to upload.
    ///   - field: a container field of the layout's own table.
    ///   - recordId: the record.
    ///   - repetition: which repetition of the field, counted from 1; `nil`, the default, is the first.
    ///   - modId: upload only if the record still has this modification id; `nil`, the default, uploads in any case.
    ///   - onProgress: called with the number of bytes of the file that the connection has taken.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Upload container data".
    public func upload(
        _ file: FMRest.ContainerFile,
        to field: R.CodingKeys,
        of recordId: some DataAPI.RecordIdentifier,
        repetition: Int? = nil,
        modId: Int? = nil,
        onProgress: DataAPI.ProgressObserver? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.UploadResponse, FMRest.APIError> {
        layout.uploadContainer(
            file,
            to: field.stringValue,
            recordId: recordId,
            repetition: repetition,
            modId: modId,
            onProgress: onProgress,
            isolation: isolation
        )
    }

    /// The content of a container field of a record, not fetched yet; see
    /// ``Layout/downloadContainer(fieldName:recordId:repetition:isolation:)``.
    ///
    /// - Parameters:
    ///   - field: the container field.
    ///   - recordId: the record.
    ///   - repetition: which repetition of the field, counted from 1.
    ///   - isolation: where the values arrive; leave it out.
    public func download(
        _ field: R.CodingKeys,
        of recordId: some DataAPI.RecordIdentifier,
        repetition: Int = 1,
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.ContainerDownload {
        layout.downloadContainer(
            fieldName: field.stringValue,
            recordId: recordId,
            repetition: repetition,
            isolation: isolation
        )
    }
}
