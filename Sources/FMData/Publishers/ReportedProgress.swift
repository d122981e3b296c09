public import OpenCombine

extension DataAPI {
    /// How far something has come, as a publisher: for every call that tells its progress to a closure.
    ///
    /// ```swift
    /// let progress = DataAPI.ReportedProgress<DataAPI.PagingProgress>()
    /// let bar = progress.sink { print("\($0.delivered) of \($0.total ?? 0)") }      // 249 of 249
    /// print(try await countries.all().reportingProgress(to: progress.report).collect().firstValue().count)      // 249
    /// bar.cancel()
    /// ```
    ///
    /// Publishes the last report, if there has been one, to each new subscriber, and then every report. Never finishes, and never
    /// fails: the publisher that makes the progress does. Values arrive on the main actor for those who subscribe there, for all
    /// others where the progress is made, which waits for them. What a subscriber on the main actor is too slow for is left out,
    /// the latest is not.
    public struct ReportedProgress<Value: Sendable>: Publisher, @unchecked Sendable {
        // @unchecked: the only stored property is a subject that guards its value and its subscribers by a lock of its own.

        /// How far it has come.
        public typealias Output = Value
        /// It never fails.
        public typealias Failure = Never

        private let subject = CurrentValueSubject<Value?, Never>(nil)

        /// Nothing has been reported yet.
        public init() {}

        /// What is reported lands here: give it to the call as its closure for progress.
        public var report: @Sendable (Value) -> Void {
            { [self] in subject.send($0) }
        }

        /// Attaches the subscriber.
        public func receive<Downstream: Subscriber<Value, Never>>(subscriber: Downstream) {
            subject.compactMap(\.self).whereSubscribed().receive(subscriber: subscriber)
        }
    }
}
