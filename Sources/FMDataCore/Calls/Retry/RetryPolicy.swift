extension DataAPI {
    /// How often, and with which pauses, calls are repeated after temporary failures; see ``Calling/retrying(_:)``.
    ///
    /// ```swift
    /// var policy = DataAPI.RetryPolicy()
    /// policy.maximumAttempts = 6
    /// policy.deadline = .seconds(120)
    /// let patient = people.retrying(policy)
    /// print(try await patient.exists { $0(.city) == "Atlantis" }.firstValue())       // false
    /// ```
    ///
    /// A policy says when to repeat a call, never whether that is safe: calls are repeated only after errors that are
    /// ``FMRest/APIError/isRetryable``.
    public struct RetryPolicy: Hashable, Sendable {
        /// The largest number of attempts, including the first. The default is 4; with 1 or less, calls are never
        /// repeated.
        public var maximumAttempts: Int
        /// The pause after the first failure, before ``jitter`` is applied. The default is 250 ms.
        public var firstPause: Duration
        /// The factor by which each pause is longer than the one before. The default is 2; less than 1 counts as 1.
        public var multiplier: Double
        /// The longest pause. The default is 10 s. If the server asks for a longer one by `Retry-After`, that one is
        /// used.
        public var maximumPause: Duration
        /// The part of each pause that is random, from 0 to 1, so that clients that failed together do not return
        /// together. The default is 0.5: a pause of 2 s lasts between 1 s and 2 s.
        public var jitter: Double
        /// How long after the start of the call an attempt may begin; `nil` for no limit. The default is 60 s. If a
        /// pause would end later, the call fails at once instead. This limit cancels no attempt, since a cancelled
        /// write may have been carried out. The total time of a call is limited by `total` of ``Timeouts``; no pause
        /// goes beyond that limit either.
        public var deadline: Duration?
        /// The kinds of failure to repeat a call after, if that is safe; `nil`, the default, means all.
        public var codes: Set<FMRest.APIError.Code>?
        /// The FileMaker codes to repeat a call after, if that is safe; `nil`, the default, means all. With
        /// `[.recordInUse]` a call waits for a record that is being edited, but not for a full host. Failures without a
        /// FileMaker code depend on ``codes`` alone.
        public var fileMakerCodes: Set<FileMakerErrorCode>?
        /// The budget that limits further attempts; `nil`, the default, means that of the ``Server`` object.
        public var budget: RetryBudget?

        /// A policy; see each property for its default.
        public init(
            maximumAttempts: Int = 4,
            firstPause: Duration = .milliseconds(250),
            multiplier: Double = 2,
            maximumPause: Duration = .seconds(10),
            jitter: Double = 0.5,
            deadline: Duration? = .seconds(60),
            codes: Set<FMRest.APIError.Code>? = nil,
            fileMakerCodes: Set<FileMakerErrorCode>? = nil,
            budget: RetryBudget? = nil
        ) {
            self.maximumAttempts = maximumAttempts
            self.firstPause = firstPause
            self.multiplier = multiplier
            self.maximumPause = maximumPause
            self.jitter = jitter
            self.deadline = deadline
            self.codes = codes
            self.fileMakerCodes = fileMakerCodes
            self.budget = budget
        }
    }
}
