public import OpenCombine

extension Publisher where Failure == FMRest.APIError {
    /// The values as they come, for a loop in `async` code.
    ///
    ///     for try await person in people.all().values { … }
    ///
    /// Subscribes when the loop begins, and asks for each value when the loop comes to it: what is not asked for is not read. Leaving
    /// the loop, or cancelling its task, cancels the subscription, which ends what is under way on the wire.
    ///
    /// The loop ends when the publisher has finished. It throws the publisher's ``FMRest/APIError``, and `CancellationError` when its
    /// task is cancelled before: a loop that ends has seen everything. (OpenCombine's own `values` ends then as if that was all, and a
    /// loop that is left leaves its subscription behind.)
    public var values: DataAPI.AsyncValues<Self> { DataAPI.AsyncValues(upstream: self) }
}

extension DataAPI {
    /// The values of a publisher as they come; see ``OpenCombine/Publisher/values``.
    public struct AsyncValues<Upstream: Publisher>: AsyncSequence where Upstream.Failure == FMRest.APIError {
        /// What the publisher publishes.
        public typealias Element = Upstream.Output

        let upstream: Upstream

        /// Subscribes.
        public func makeAsyncIterator() -> Iterator {
            let values = AwaitedValues<Element>()
            upstream.subscribe(values)
            return Iterator(loop: Loop(values: values))
        }

        /// One loop over the values: one subscription.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let loop: Loop

            /// The next value; `nil` when the publisher has finished. Throws its failure, and `CancellationError` when the task is
            /// cancelled.
            public func next() async throws -> Element? { try await loop.values.next() }
        }

        /// Goes with the loop, whose subscription keeps its subscriber alive.
        fileprivate final class Loop {
            let values: AwaitedValues<Element>

            init(values: AwaitedValues<Element>) { self.values = values }

            deinit { values.cancel() }
        }
    }
}
