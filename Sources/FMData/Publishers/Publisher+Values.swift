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
        }

        /// Is released with the loop and then cancels the subscription, which keeps its subscriber alive.
        fileprivate final class Loop {
            let values: AwaitedValues<Element>

            init(values: AwaitedValues<Element>) { self.values = values }

            deinit { values.cancel() }
        }
    }
}
