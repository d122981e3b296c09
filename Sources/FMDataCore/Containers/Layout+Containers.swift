public import OpenCombine

extension DataAPI.Layout {
    /// Puts a file into a container field of a record, and publishes the record's new version.
    ///
    /// ```swift
    /// let people = database.addLayout("Contacts")
    /// let bow = FMRest.ContainerFile(fileName: "bow.txt", data: Data("A bow".utf8))
    /// let uploaded = people.uploadContainer(bow, to: "Photo", recordId: 3) { progress in
    ///     print("\(Int(100 * (progress.fraction ?? 0))) %")       // 100 %
    /// }
    /// try await uploaded.firstValue()
    /// ```
    ///
    /// Cancelling during the upload leaves it unknown whether the file was stored. The bytes are read while they are
    /// sent, as fast as the connection takes them.
    ///
    /// When the session has expired, the file is sent again in a new one. A file that cannot be sent twice
    /// (``FMRest/ContainerFile/isReplayable``) fails instead with ``FMRest/APIError/Code/sessionLost``; nothing was
    /// stored. Fails with FileMaker code 306 when a modId was given and the record has another one by now, with 102
    /// when the field is not on the layout or belongs to a related table (upload to it through a layout of that table),
    /// with 101 when there is no such record, and with ``FMRest/APIError/Code/invalidRequest`` when the file's name,
    /// type or length cannot be sent or the number of its bytes is not the announced one.
    ///
    /// To empty a container, edit the record and write `""` to the field.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - file: What to upload.
    ///   - fieldName: A container field of the layout's own table.
    ///   - recordId: The record.
    ///   - repetition: Which repetition of the field, counted from 1. The default is the first.
    ///   - modId: Upload only if the record still has this modification id.
    ///   - onProgress: Called with the number of bytes of the file that the connection has taken.
    ///   - isolation: Where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Upload container data", `POST …/records/{id}/containers/{field}/{repetition}`.
    public func uploadContainer(
        _ file: FMRest.ContainerFile,
        to fieldName: String,
        recordId: some DataAPI.RecordIdentifier,
        repetition: Int? = nil,
        modId: Int? = nil,
        onProgress: DataAPI.ProgressObserver? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.UploadResponse, FMRest.APIError> {
        let recordId = LenientInt(id: recordId)
        return database.perform {
            // An empty struct has no address of its own, and the thread sanitizer reports uses of the address that it
            // happens to get as a race. A box has an address of its own.
            var generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
            return try .upload(
                file,
                to: fieldName,
                recordId: recordId.recordId(),
                of: self,
                repetition: repetition,
                modId: modId,
                observer: onProgress,
                using: &generator
            )
        }
        .delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    /// A download of the content of a record's container field.
    ///
    /// ```swift
    /// let photo = people.downloadContainer(fieldName: "Photo", recordId: 3).toMemory(upTo: 10_000_000)
    /// print(try await photo.firstValue().fileName ?? "")          // bow.txt
    /// ```
    ///
    /// The record is read and its content fetched in one session: a container's URL is bound to the session that it was
    /// read in, and expires with it. When the session has expired, both are repeated in a new one.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - fieldName: A container field as the layout shows it, related ones with their table: `"Photo"`,
    ///     `"Parts::Drawing"`.
    ///   - recordId: The record.
    ///   - repetition: Which repetition of the field, counted from 1. The default is the first.
    ///   - isolation: Where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Work with container data".
    public func downloadContainer(
        fieldName: String,
        recordId: some DataAPI.RecordIdentifier,
        repetition: Int = 1,
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.ContainerDownload {
        let recordId = LenientInt(id: recordId)
        return DataAPI.ContainerDownload(for: isolation, from: database) { database in
            database.openContainer {
                token,
                call -> AnyPublisher<ContainerDownloadStateMachine, FMRest.APIError> in
                database.server.findContainer(
                    fieldName,
                    repetition,
                    of: recordId,
                    on: self,
                    token: token,
                    within: call.next(at: database.server.time.now())
                )
            }
            .mapError { $0.about(container: fieldName, repetition, of: recordId, on: self) }
            .eraseToAnyPublisher()
        }
    }
}

extension FMRest.APIError {
    /// Adds to an error without content which container it is about; other errors stay as they are.
    fileprivate func about(
        container field: String,
        _ repetition: Int,
        of recordId: LenientInt,
        on layout: DataAPI.Layout
    ) -> FMRest.APIError {
        guard containerError != nil else { return self }
        var error = self
        error.fields = [field]
        let place = repetition == 1 ? "\"\(field)\"" : "\"\(field)\", repetition \(repetition),"
        let record = (try? recordId.recordId()).map { " of record \($0)" } ?? ""
        error.reason += " It was looked for in \(place)\(record) on layout \"\(layout.name)\"."
        return error
    }
}

extension DataAPI.Server {
    private typealias Record = DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>

    /// Reads the record for the container's URL.
    fileprivate func findContainer(
        _ fieldName: String,
        _ repetition: Int,
        of recordId: LenientInt,
        on layout: DataAPI.Layout,
        token: SessionToken,
        within context: RequestContext
    ) -> AnyPublisher<ContainerDownloadStateMachine, FMRest.APIError> {
        deferred { () throws -> DataAPIRequest<Record> in
            try .record(recordId.recordId(), of: layout, query: DataAPI.RecordQuery(portal: [])).within(context)
        } _: { request in
            self.exchange(request, token: token)
                .tryMap { response in
                    guard let value = response.data.first?.fieldData.value(of: fieldName, repetition: repetition) else {
                        throw DataAPI.ContainerError(.fieldMissing)
                    }
                    return try self.downloadMachine(for: DataAPI.ContainerReference(value.text))
                }
                .mapError(FMRest.APIError.init(wrapping:))
                .eraseToAnyPublisher()
        }
    }
}

extension FieldData {
    /// The value of one repetition of a field. When a layout shows several repetitions, each has its number in the
    /// name, also the first.
    fileprivate func value(of name: String, repetition: Int) -> FieldValue? {
        self["\(name)(\(repetition))"] ?? (repetition == 1 ? self[name] : nil)
    }
}
