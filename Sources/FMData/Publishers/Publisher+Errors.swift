public import OpenCombine

extension Publisher where Failure == FMRest.APIError {
    /// Publishes a value and finishes, where the publisher fails with one of these FileMaker codes. Other failures pass.
    ///
    /// ```swift
    /// let isDeleted = people.delete(999_999).map { _ in true }
    ///     .replaceError(of: .recordMissing, with: false)
    /// print(try await isDeleted.firstValue())                     // false
    /// ```
    public func replaceError(
        of code: FileMakerErrorCode,
        _ others: FileMakerErrorCode...,
        with value: Output
    ) -> AnyPublisher<Output, FMRest.APIError> {
        // One at least: with none this would be called for `replaceError(with:)`, and rescue nothing.
        rescue([code] + others) { _ in Just(value).setFailureType(to: FMRest.APIError.self) }
    }

    /// Goes on with another publisher, where the publisher fails with this FileMaker code. Other failures pass.
    ///
    ///     people.editRecord(record: mine, recordId: 17)
    ///         .catchError(of: .modIdMismatch) { _ in mergeAndEdit() }
    ///
    /// Values that were published before the failure stay published; what is still asked for is asked of the new publisher.
    public func catchError<Other: Publisher>(
        of code: FileMakerErrorCode,
        _ handler: @escaping (FMRest.APIError) -> Other
    ) -> AnyPublisher<Output, FMRest.APIError>
    where Other.Output == Output, Other.Failure == FMRest.APIError {
        rescue([code], handler)
    }

    private func rescue<Other: Publisher>(
        _ codes: [FileMakerErrorCode],
        _ handler: @escaping (FMRest.APIError) -> Other
    ) -> AnyPublisher<Output, FMRest.APIError>
    where Other.Output == Output, Other.Failure == FMRest.APIError {
        afterFailure { error, _ -> AnyPublisher<Output, FMRest.APIError> in
            guard let code = error.fileMakerCode, codes.contains(code) else {
                return Fail(error: error).eraseToAnyPublisher()
            }
            return handler(error).eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
}
