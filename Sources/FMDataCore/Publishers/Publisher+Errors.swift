public import OpenCombine

extension Publisher where Failure == FMRest.APIError {
    /// Publishes a value and finishes if the publisher fails with one of these FileMaker codes. Other failures are
    /// passed on.
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
        // At least one code: without one, this overload would be chosen for `replaceError(with:)` and replace no error.
        rescue([code] + others) { _ in Just(value).setFailureType(to: FMRest.APIError.self) }
    }

    /// Continues with another publisher if the publisher fails with this FileMaker code. Other failures are passed on.
    ///
    ///     people.editRecord(record: mine, recordId: 17)
    ///         .catchError(of: .modIdMismatch) { _ in mergeAndEdit() }
    ///
    /// Values published before the failure stay published; the remaining demand is passed to the new publisher.
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

extension AnyPublisher where Failure == FMRest.APIError {
    /// Publishes the given value.
    package static func of(_ value: Output) -> Self {
        Just(value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
    }

    /// Fails when it is subscribed to.
    package static func failing(_ error: FMRest.APIError) -> Self { Fail(error: error).eraseToAnyPublisher() }
}
