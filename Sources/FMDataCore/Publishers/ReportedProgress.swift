public import OpenCombine

extension DataAPI {
    /// Publishes the progress of calls that report it to a closure.
    ///
    /// ```swift
    /// let progress = DataAPI.ReportedProgress<DataAPI.PagingProgress>()
    /// print(try await countries.all().reportingProgress(to: progress.report).collect().firstValue().count)      // 249
    /// for await pages in progress.values {
    ///     print("\(pages.delivered) of \(pages.total ?? 0)")              // 249 of 249
    ///     break
    /// }
    /// ```
    ///
    /// Publishes the last report, if any, to each new subscriber, and then every report. It never finishes or fails;
    /// only the call itself does. Subscribers on the main actor receive the values there, all others on the thread that
    /// makes the progress, which waits for them. A slow subscriber on the main actor misses intermediate values, never
    /// the latest.
    public struct ReportedProgress<Value: Sendable>: Publisher, Sendable {
        /// The progress, as reported.
        public typealias Output = Value
        /// It never fails.
        public typealias Failure = Never

        private let subject = SelfGuarded(CurrentValueSubject<Value?, Never>(nil))

        /// A publisher without any report yet.
        public init() {}

        /// The closure that receives the reports: pass it to the call as its progress closure.
        public var report: @Sendable (Value) -> Void {
            { [self] in subject.object.send($0) }
        }

        /// Attaches the subscriber.
        public func receive<Downstream: Subscriber<Value, Never>>(subscriber: Downstream) {
            subject.object.compactMap(\.self).whereSubscribed().receive(subscriber: subscriber)
        }
    }
}
