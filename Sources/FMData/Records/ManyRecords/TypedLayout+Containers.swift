public import OpenCombine

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
