extension DataAPI {
    /// How often and at what pace calls are tried again that failed in passing; see ``Calling/retrying(_:)``.
    ///
    /// ```swift
    /// var policy = DataAPI.RetryPolicy()
    /// policy.maximumAttempts = 6
    /// policy.deadline = .seconds(120)
    /// let patient = people.retrying(policy)
    /// print(try await patient.exists { $0(.city) == "Atlantis" }.firstValue())       // false
    /// ```
    ///
    /// It says when to try again, never whether that is safe: what a policy allows is tried again only where the error is
    /// ``FMRest/APIError/isRetryable``.
    public struct RetryPolicy: Hashable, Sendable {
        /// How often a call is sent at most, the first time included. The default is 4; 1 and less never try again.
        public var maximumAttempts: Int
        /// The pause after the first failure, before a part of it is drawn by ``jitter``. The default is 250 ms.
        public var firstPause: Duration
        /// By what each pause is longer than the one before. The default is 2; less than 1 counts as 1.
        public var multiplier: Double
        /// What no pause grows beyond. The default is 10 s. A server that asks for more by `Retry-After` gets it.
        public var maximumPause: Duration
        /// The part of each pause that is drawn at random, from 0 to 1, so that clients that failed together do not come back
        /// together. The default is 0.5: a pause of 2 s lasts between 1 s and 2 s.
        public var jitter: Double
        /// How long after the call began an attempt may still begin; `nil` is for ever. The default is 60 s. A pause that would
        /// end later is not begun: the call fails at once. It cuts no attempt off, for a write that is cut off may have been
        /// carried out; how long the call may take as a whole says ``Timeouts`` with `total`, and no pause goes beyond that
        /// either.
        public var deadline: Duration?
        /// The kinds of failure after which to try again, where that is safe; `nil`, the default, is all of them.
        public var codes: Set<FMRest.APIError.Code>?
        /// FileMaker's codes after which to try again, where that is safe; `nil`, the default, is all of them. `[.recordInUse]`
        /// waits for a record that somebody edits, and not for a host that is full. Failures without a code of FileMaker's are
        /// left to ``codes``.
        public var fileMakerCodes: Set<FileMakerErrorCode>?
        /// What further attempts are paid from; `nil`, the default, is the one that each ``Server`` object has.
        public var budget: RetryBudget?

        /// A policy; each property says its default.
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

extension DataAPI.Calling {
    /// The same, whose calls are tried again where that is safe.
    ///
    ///     people.retrying().findRecords(query: query).returnAs(Person.self)
    ///
    ///     let patient = database.retrying(DataAPI.RetryPolicy(maximumAttempts: 10, deadline: .seconds(600)))
    ///
    /// A call that fails with an error that is ``FMRest/APIError/isRetryable`` is sent again after a pause, which grows with
    /// each failure, has a part drawn at random, and is no shorter than what the server asks for
    /// (``FMRest/APIError/retryAfter``). It fails with the last error when its attempts, its time or the
    /// ``DataAPI/RetryBudget`` are used up; the hint then says how often it was tried. Never tried again are:
    ///
    /// - a write whose outcome is unknown (``FMRest/APIError/outcomeIsUnknown``);
    /// - a stream (`records`, the content of a container) that has published something;
    /// - a call whose script before the request or before the sort may have run when FileMaker refused the rest, and one that
    ///   runs a script alone, once FileMaker has answered;
    /// - an upload whose bytes cannot be produced twice.
    ///
    /// It is set on what calls are made through, and is no operator of their publishers, because only the call knows what was
    /// done: an operator behind `create.flatMap { … edit … }` would make a second record when the edit finds a lock. Here each
    /// call of such a chain is tried again by itself, and ``DataAPI/Database/withSession(isolation:_:)->Value``
    /// keeps its session while a call inside of it pauses. (OpenCombine's `retry(_:)` is such an operator, without a pause.)
    ///
    /// All else stays as it is. Nothing is sent before demand, demand for a stream counts over all attempts, values arrive
    /// where they would without it, and cancelling ends the pause or the attempt. The time is that of the server object's calls,
    /// and ``DataAPI/Timeouts`` hold for each attempt, except for `total`, which is for the call with all its attempts and
    /// pauses.
    ///
    /// - Parameter policy: it takes the place of the one before; `callOptions { $0.retryPolicy = nil }` goes back to none.
    public func retrying(_ policy: DataAPI.RetryPolicy = DataAPI.RetryPolicy()) -> Self {
        callOptions { $0.retryPolicy = policy }
    }
}
