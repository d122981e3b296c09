public import Logging

extension DataAPI {
    /// The options of single calls: time limits, whether failed calls are tried again, a logger, and a name for the
    /// work that they belong to.
    ///
    ///     people.timeouts { $0.total = .seconds(2) }.logger(requestLogger).tagged("nightly import").getRecords()
    ///
    /// They are set where calls are made, by the methods of ``Calling``.
    public struct CallOptions: Sendable {
        /// The time limits. They start as those of the server's ``DataAPI/Config/timeouts``.
        public var timeouts: Timeouts
        /// Where the calls are logged, with the metadata of this logger. `nil`, the default, is the server's
        /// ``DataAPI/Config/logger``. The latter also gets everything that no single call causes: logins and logouts of
        /// shared sessions, lines of the HTTP client. With either, the lines have the metadata of the task-local logger
        /// as well: <doc:Logging>.
        public var logger: Logger?
        /// A text of yours that names the work that the calls belong to: `fm.tag` in the log,
        /// ``FMRest/APIError/RequestSummary/tag`` in errors. It is printed unchanged. The default is none.
        public var tag: String?
        /// How often and at what pace calls are tried again after a transient failure; see ``Calling/retrying(_:)``.
        /// `nil`, the default, is never.
        public var retryPolicy: RetryPolicy?
        /// Whether equal reads that are under way at the same time are coalesced into one request; see
        /// ``Calling/coalescingReads()``. The default is no.
        public var coalescesReads = false
        /// How old the answer to an equal read may be to be used instead of a request; see ``Calling/cached(for:)``.
        /// With `nil`, the default, each read sends a request.
        public var cacheTime: Duration?
        /// Steps that each request of the calls goes through, behind those of ``DataAPI/Config/middleware``. The
        /// default is none.
        public var middleware: [Middleware] = []
        /// What sees the calls begin and end, instead of ``DataAPI/Config/observers``; `nil`, the default, is those.
        public var observers: [CallObserver]?
        /// The rules that values must meet before they are sent; `nil`, the default, leaves validation to the host. See
        /// ``TypedLayout/validating(_:)``.
        package var validation: WriteValidation?
        /// The meter of the live query whose poll makes the calls; `nil` for calls of the program. A poll's calls wait
        /// behind all others, and scripts that they run do not count as writes of the program.
        package var pollMeter: PollMeter?
        /// Whether the calls look up the cause of another call's error. Their own errors are then not explained.
        var isExplanation = false
        /// The account period that the calls run in; `nil` for the one that is current when a call begins.
        package var accountPeriod: AccountPeriod?
        /// The logger of the server's configuration, for calls without ``logger``.
        var serverLogger: Logger?
        /// What the task-local logger of the code that began the calls adds to their lines; `nil` before they begin,
        /// and if none of their lines is logged.
        var callerMetadata: Logger.Metadata?
    }

    /// The objects that calls are made through: a ``Server``, a ``Database``, a ``Layout``. Each of these methods
    /// returns a view of the object, with other options for the calls that are made through it: those of a server also
    /// hold for its databases, those of a database for its layouts.
    ///
    /// ```swift
    /// let patient = database.timeouts { $0.firstByte = .seconds(900) }.tagged("start")
    /// let isThere = patient.layout(Person.self).exists { $0(.name) == "Ada Lovelace" }
    /// print(try await isThere.firstValue())                       // true
    /// ```
    ///
    /// Credentials, sessions, lists and connections are shared with the object that the method was called on: a change
    /// through one shows in the other. Other options stay as they are. Each call has its own time: a publisher with two
    /// subscriptions makes two calls.
    public protocol Calling {
        /// Returns a view of the object with changed options for its calls.
        ///
        /// - Parameter change: Changes the options; it receives the present ones.
        func callOptions(_ change: (inout CallOptions) -> Void) -> Self
    }
}

extension DataAPI.Calling {
    /// Returns a view of the object with other time limits for its calls.
    ///
    /// ```swift
    /// let nightly = people.timeouts {
    ///     $0.firstByte = .seconds(1800)                           // the script takes its time
    ///     $0.total = nil
    /// }
    /// let echo = nightly.layout.runScript("Echo", parameter: "done")
    /// print(try await echo.firstValue().scriptResult ?? "")       // done
    /// ```
    ///
    /// With these limits, ``DataAPI/Database/withSession(keptAlive:isolation:_:)`` waits that long for its session, and
    /// each call inside has them too. See ``DataAPI/Timeouts`` for what each limit covers and what the error says.
    ///
    /// - Parameter change: Changes the limits; it receives the present ones: those of ``DataAPI/Config/timeouts``, or
    ///   those of the last call to this method.
    public func timeouts(_ change: (inout DataAPI.Timeouts) -> Void) -> Self {
        callOptions { change(&$0.timeouts) }
    }

    /// Returns a view of the object whose calls are logged by this logger: for example that of the request that your
    /// server is handling, with its metadata.
    ///
    /// ``DataAPI/Config/logger`` says what is logged. This logger's own level counts, whatever the level of the
    /// server's logger.
    public func logger(_ logger: Logger) -> Self {
        callOptions { $0.logger = logger }
    }

    /// Returns a view of the object whose calls carry a name for the work that they belong to.
    ///
    ///     people.tagged("nightly import").createRecord(ada)
    ///
    /// - Parameter tag: A text of yours: `fm.tag` in the log, and in the ``FMRest/APIError/request`` of errors; printed
    ///   unchanged. It replaces the tag before.
    public func tagged(_ tag: String) -> Self {
        callOptions { $0.tag = tag }
    }

    /// Returns a view of the object whose equal reads are coalesced: they share one request while it is under way.
    ///
    /// ```swift
    /// let londoners = people.find { $0(.city) == "London" }.coalescingReads()
    /// let first = try await londoners.firstRecord()
    ///     .firstValue()                               // asked for by a thousand visitors at once, it is one request
    /// print(first?.fieldData.name ?? "")                          // Ada Lovelace
    /// ```
    ///
    /// A read that is equal to one under way gets the same answer, or the same failure, and sends nothing. A read that
    /// begins after the answer sends a request of its own: nothing is kept. Cancelling one subscription leaves the
    /// others their answer; cancelling the last one ends the request on the wire. Two reads are equal when they come
    /// from the same database object (and, in ``DataAPI/Database/withSession(keptAlive:isolation:_:)``, the same
    /// session), ask for the same in the same types, and have the same time limits and tag. The time and the logger are
    /// those of the read that came first.
    ///
    /// Writes and scripts are never coalesced, and neither are reads that run scripts, streams of records and contents
    /// of containers. A read that begins after a write through the same database was answered does not get an answer
    /// from before that write.
    ///
    /// In nonisolated code the answer is delivered to the subscribers one after the other: a subscriber that blocks
    /// delays the rest.
    public func coalescingReads() -> Self {
        callOptions { $0.coalescesReads = true }
    }
}

extension DataAPI.Calling {
    /// Returns a view of the object whose reads may be answered by the kept answer to an equal read.
    ///
    /// ```swift
    /// let menu = countries.cached(for: .seconds(600)).sorted(by: .name)
    /// for _ in 1...3 { print(try await menu.firstRecord().firstValue()?.name ?? "") }     // Afghanistan
    /// ```
    ///
    /// The age of an answer counts from the moment its request began. Two reads are equal under the conditions of
    /// ``coalescingReads()``, and are coalesced while the first is under way. A kept answer is used even where the host
    /// has answered wrongly. Failures are not kept, and for a host a find without a match is a failure. For each
    /// database and account, the last 256 answers of cached reads are kept; the least recently used is dropped first.
    ///
    /// All answers are dropped when something was written through the same database object, when one of its live
    /// queries or ``RecordSource/changes(keptBy:options:isolation:)`` has seen a change, when
    /// ``Database/changed(_:)`` reports one, and when the account is replaced. Writes of others show only when the time
    /// is over.
    ///
    /// Writes and scripts are sent each time, and so is everything that takes more than one call or must see the host:
    /// reads that run scripts, streams of records such as ``RecordSource/all(_:pageSize:isolation:)``, joins, finds in
    /// several calls, live queries, contents of containers, and the reads of saves, upserts and batches before they
    /// write.
    ///
    /// - Parameter age: How old an answer may be.
    public func cached(for age: Duration) -> Self {
        callOptions { $0.cacheTime = age }
    }
}

extension DataAPI.Server: DataAPI.Calling {
    /// The same server, with other options for its calls and for those of the databases that come from it.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.Server {
        DataAPI.Server(self, calls: calls.changed(change))
    }
}

extension DataAPI.Database: DataAPI.Calling {
    /// The same database, with other options for its calls and for those of its layouts.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.Database {
        DataAPI.Database(self, calls: calls.changed(change))
    }

    /// The database for one call of several steps, which share its time and run as one account.
    var forOneCall: DataAPI.Database {
        DataAPI.Database(self, calls: calls.ofOneCall(in: accountPeriod))
    }
}

extension DataAPI.Layout: DataAPI.Calling {
    /// The same layout, with other options for its calls.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.Layout {
        DataAPI.Layout(name: name, database: database.callOptions(change), table: table)
    }

    /// The layout for one call of several steps, which share its time and run as one account.
    package var forOneCall: DataAPI.Layout {
        DataAPI.Layout(name: name, database: database.forOneCall, table: table)
    }
}

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
