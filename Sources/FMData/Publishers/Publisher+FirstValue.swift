public import OpenCombine

extension Publisher where Failure == FMRest.APIError, Output: Sendable {
    /// The publisher's first value, for `async` code.
    ///
    ///     let response = try await people.getRecords().returnAs(Person.self).firstValue()
    ///
    /// Subscribes when awaited, asks for one value and then cancels. Throws the publisher's ``FMRest/APIError``, or one
    /// with ``FMRest/APIError/Code/noValue`` if it finishes without a value. The only other error is
    /// `CancellationError`, when the task is cancelled, which cancels the request. Catch a failure by its code or by
    /// its type:
    ///
    ///     } catch FileMakerErrorCode.recordMissing {
    ///     } catch FMRest.APIError.Code.timeout {
    ///     } catch let error as FMRest.APIError where error.isRetryable {
    ///
    /// ``awaitSingleResult(isolation:)`` reports them all as one error type.
    @discardableResult
    public func firstValue(
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Output {
        try await first(of: AwaitedValues(wantsOneValue: true))
    }

    private func first(
        of values: AwaitedValues<Output>,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Output {
        subscribe(values)
        guard let value = try await values.next() else {
            throw FMRest.APIError(.noValue, reason: "The publisher finished without a value.")
        }
        return value
    }

    /// Calls the body with the publisher's first value and cancels the subscription when the body has ended, for values
    /// that are valid only while there is a subscription.
    ///
    /// Throws the errors of ``firstValue(isolation:)`` and those of the body.
    func withFirstValue<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Output) async throws -> Result
    ) async throws -> Result {
        let values = AwaitedValues<Output>()
        defer { values.cancel() }
        return try await body(try await first(of: values))
    }

    /// The publisher's first value or its failure, for `async` code that wants both in one value with one error type:
    /// `try await publisher.awaitSingleResult().get()` throws ``FMRest/APIError`` and nothing else.
    ///
    /// Like ``firstValue(isolation:)``, but a cancelled task is a failure with code ``FMRest/APIError/Code/cancelled``.
    public func awaitSingleResult(
        isolation: isolated (any Actor)? = #isolation
    ) async -> Result<Output, FMRest.APIError> {
        do {
            return .success(try await firstValue())
        } catch {
            return .failure(FMRest.APIError(wrapping: error))
        }
    }
}
