public import OpenCombine

extension Publisher where Failure == FMRest.APIError {
    /// The values as they arrive, for a loop in `async` code.
    ///
    ///     for try await person in people.all().values { … }
    ///
    /// Subscribes when the loop begins, and asks for each value when the loop gets to it: no value is read ahead.
    /// Leaving the loop, or cancelling its task, cancels the subscription and with it the request under way.
    ///
    /// The loop ends when the publisher has finished. It throws the publisher's ``FMRest/APIError``, or
    /// `CancellationError` if its task is cancelled before: a loop that ends without an error has received all values.
    /// (With OpenCombine's own `values`, a cancelled loop ends without an error, and a loop that is left early keeps
    /// its subscription.)
    public var values: DataAPI.AsyncValues<Self> { DataAPI.AsyncValues(upstream: self) }
}

extension DataAPI {
    /// The values of a publisher as they arrive; see ``OpenCombine/Publisher/values``.
    public struct AsyncValues<Upstream: Publisher>: AsyncSequence where Upstream.Failure == FMRest.APIError {
        /// The publisher's values.
        public typealias Element = Upstream.Output

        let upstream: Upstream

        /// Subscribes to the publisher and returns the iterator of that subscription.
        public func makeAsyncIterator() -> Iterator {
            let values = AwaitedValues<Element>()
            upstream.subscribe(values)
            return Iterator(loop: Loop(values: values))
        }

        /// One loop over the values: one subscription.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let loop: Loop

            /// Returns the next value, or `nil` when the publisher has finished. Throws the publisher's failure, or
            /// `CancellationError` when the task is cancelled.
            public func next() async throws -> Element? { try await loop.values.next() }

            /// The same for a loop in the code of an actor, which asks there: a value that an operator has kept until
            /// it is asked for arrives on the actor, too.
            public func next(isolation: isolated (any Actor)?) async throws -> Element? {
                try await loop.values.next(isolation: isolation)
            }
        }

        /// Is released with the loop and then cancels the subscription, which keeps its subscriber alive.
        fileprivate final class Loop {
            let values: AwaitedValues<Element>

            init(values: AwaitedValues<Element>) { self.values = values }

            deinit { values.cancel() }
        }
    }
}

// It holds the publisher alone; each loop has a subscription of its own.
extension DataAPI.AsyncValues: Sendable where Upstream: Sendable {}

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
