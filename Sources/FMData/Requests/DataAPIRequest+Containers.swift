import FMHTTP

/// Calls for containers.
extension DataAPIRequest {
    /// The `modId` goes into the URL: the server ignores one in the form.
    static func upload(
        _ file: FMRest.ContainerFile,
        to fieldName: String,
        recordId: Int,
        of layout: some LayoutAddress,
        repetition: Int?,
        modId: Int?,
        observer: DataAPI.ProgressObserver?,
        using generator: inout some RandomNumberGenerator
    ) throws -> Self where Response == DataAPI.UploadResponse {
        let repetition = repetition ?? 1
        guard repetition >= 1 else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A repetition counts from 1; \(repetition) was given."
            )
        }
        return Self(
            method: .POST,
            path: .record(recordId, of: layout.name, in: layout.databaseName)
                / "containers" / fieldName / String(repetition),
            options: .shown("modId", modId.map(String.init)),
            body: .multipart(try MultipartForm(file, observer: observer, using: &generator))
        )
    }
}
