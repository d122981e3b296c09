public import FMHTTP

extension DataAPI {
    /// The time limits after which a call fails with ``FMRest/APIError/Code/timeout``. `nil` is no limit.
    ///
    /// They are set for all calls in ``Config/timeouts``, and for single calls where they are made:
    ///
    ///     config.timeouts.firstByte = .seconds(300)
    ///
    ///     people.timeouts { $0.total = .seconds(2) }.findRecords(query: query)
    ///
    /// | limit | what it limits | default |
    /// |---|---|---|
    /// | `queue` | the wait for a connection while all are busy | 60 s |
    /// | `connect` | opening a connection where one has to be made, with TLS | 10 s |
    /// | `firstByte` | from the end of the request to the first byte of the answer: unindexed finds, scripts | 120 s |
    /// | `idle` | the time without a byte in either direction while one is expected | 60 s |
    /// | `minimumRate` | the bytes of an answer that have to come in each second, on average | 1,000 |
    /// | `total` | the whole call: session, login, connection, sending, answer, and all that is repeated | none |
    ///
    /// These limits end every call, also on a server that is silent or sends a byte every now and then: an answer of n
    /// bytes is complete n / 1,000 + 120 seconds after its head, or the call fails. `total` has no default because it
    /// would have to be longer than the longest script or upload. The wait for a session has a limit of its own
    /// (``SessionConfiguration/waitingDeadline``).
    ///
    /// Connections are shared. A call with a `connect` limit of its own gives up when that has passed, whether it waits
    /// for a new connection or for a busy one; with a longer limit, the connection attempt that it starts may take
    /// longer.
    ///
    /// In a stream (`records`, the content of a container) the time in which the subscriber has no demand does not
    /// count: the limits are for the server, not for the subscriber. A login is shared with other calls that wait for
    /// it, and goes on for a while after a call has given up.
    ///
    /// The error's reason says what the call was waiting for (a session, a connection, the answer, the rest of the
    /// answer), which limit struck and how long it was. ``FMRest/APIError/outcomeIsUnknown`` is `true` for a write that
    /// had been sent, at least in part; where nothing was sent, or nothing that changes anything, it is `false`, and
    /// ``FMRest/APIError/isRetryable`` `true`.
    ///
    /// OpenCombine's operator `timeout(_:scheduler:)` is no replacement: it does not know whether anything was sent. On
    /// a concurrent queue such as `DispatchQueue.global()` it also loses values, since it sends each value and the
    /// completion to the queue one by one and the completion may overtake the value. Set a limit of the call instead,
    /// or give the operator a serial queue.
    public typealias Timeouts = HTTPTimeouts
}
