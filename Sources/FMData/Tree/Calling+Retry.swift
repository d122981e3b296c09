extension DataAPI.Calling {
    /// The same, with calls that are repeated after temporary failures if that is safe.
    ///
    ///     people.retrying().findRecords(query: query).returnAs(Person.self)
    ///
    ///     let patient = database.retrying(DataAPI.RetryPolicy(maximumAttempts: 10, deadline: .seconds(600)))
    ///
    /// A call that fails with an error that is ``FMRest/APIError/isRetryable`` is sent again after a pause. The pause
    /// grows with each failure, has a random part, and is no shorter than the server asks for
    /// (``FMRest/APIError/retryAfter``). The call fails with the last error when its attempts, its time or the
    /// ``DataAPI/RetryBudget`` are used up; the error's hint then says how often it was tried. Never repeated are:
    ///
    /// - a write whose outcome is unknown (``FMRest/APIError/outcomeIsUnknown``);
    /// - a stream (`records`, the content of a container) that has published something;
    /// - a call whose script before the request or before the sort may have run when FileMaker refused the rest, and a
    ///   call that only runs a script, once FileMaker has answered;
    /// - an upload whose bytes cannot be produced twice.
    ///
    /// This is an option of the object that calls are made through, not an operator of their publishers, because only
    /// the call knows what was done: an operator behind `create.flatMap { … edit … }` would create a second record when
    /// the edit meets a lock. Here each call of such a chain is repeated separately, and
    /// ``DataAPI/Database/withSession(keptAlive:isolation:_:)`` keeps its session while a call inside of it pauses.
    /// (OpenCombine's `retry(_:)` is such an operator, without a pause.)
    ///
    /// Demand for a stream counts over all attempts, and cancelling ends the pause or the attempt. ``DataAPI/Timeouts``
    /// apply to each attempt, except for `total`, which applies to the call with all its attempts and pauses.
    ///
    /// - Parameter policy: replaces any earlier policy. To remove it, use `callOptions { $0.retryPolicy = nil }`.
    public func retrying(_ policy: DataAPI.RetryPolicy = DataAPI.RetryPolicy()) -> Self {
        callOptions { $0.retryPolicy = policy }
    }
}
