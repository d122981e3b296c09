public import Logging

extension DataAPI {
    /// What single calls may have of their own: how long they may take, whether they are tried again, where they log, and a name
    /// for what they are part of.
    ///
    ///     people.timeouts { $0.total = .seconds(2) }.logger(requestLogger).tagged("nightly import").getRecords()
    ///
    /// They are set where calls are made, by the methods of ``Calling``.
    public struct CallOptions: Sendable {
        /// How long to wait for what. They begin as those of the server's ``DataAPI/Config/timeouts``.
        public var timeouts: Timeouts
        /// Where the calls are logged, with the metadata that this logger carries. `nil`, the default, is the server's
        /// ``DataAPI/Config/logger``, which also gets what no single call is the cause of: the logins and logouts of shared
        /// sessions, the lines of the HTTP client.
        public var logger: Logger?
        /// A text of yours that names what the calls are part of: `tag` in the log, ``FMRest/APIError/RequestSummary/tag`` in
        /// errors. It is printed as it is. The default is none.
        public var tag: String?
        /// How often and at what pace the calls are tried again that failed in passing; see ``Calling/retrying(_:)``. `nil`, the
        /// default, is never.
        public var retryPolicy: RetryPolicy?
        /// Whether equal reads that are under way at the same time are one request; see ``Calling/shared()``. The default is no.
        public var sharesReads = false
        /// How old an answer to an equal read may be that is given instead of a request; see ``Calling/cached(for:)``. `nil`, the
        /// default, is that each read asks.
        public var cacheTime: Duration?
        /// What values have to be like to be sent; `nil`, the default, leaves it to the host. See
        /// ``TypedLayout/validating(_:)``.
        var validation: WriteValidation?
        /// Of a live query that makes the calls by itself: they wait behind all others, and what they run is no write of the
        /// program's.
        var look: LookMeter?
        /// Whether the calls ask what another one's error was about; then they do not explain their own.
        var isExplanation = false
        /// In which the calls are made; `nil` for that in which each begins.
        var tenure: Tenure?
    }

    /// What calls are made through: a ``Server``, a ``Database``, a ``Layout``. Each comes back from these methods as it is,
    /// but for the options of the calls that are made through what comes back: of a server also those of its databases, of a
    /// database those of its layouts.
    ///
    /// ```swift
    /// let patient = database.timeouts { $0.firstByte = .seconds(900) }.tagged("start")
    /// let isThere = patient.layout(Person.self).exists { $0(.name) == "Ada Lovelace" }
    /// print(try await isThere.firstValue())                       // true
    /// ```
    ///
    /// Credentials, sessions, lists and connections are shared with what the method was called on: what is changed through
    /// one shows in the other. Options that are not touched stay as they are. Each call has its own time: a publisher that is
    /// subscribed to twice makes two calls.
    public protocol Calling {
        /// The same, whose calls have other options.
        ///
        /// - Parameter change: gets the options that hold so far.
        func callOptions(_ change: (inout CallOptions) -> Void) -> Self
    }
}

extension DataAPI.Calling {
    /// The same, whose calls have other time limits.
    ///
    /// ```swift
    /// let nightly = people.timeouts {
    ///     $0.firstByte = .seconds(1800)                           // the script takes its time
    ///     $0.total = nil
    /// }
    /// print(try await nightly.script("Echo", "done").firstValue().scriptResult ?? "")      // done
    /// ```
    ///
    /// Work in ``DataAPI/Database/withSession(isolation:_:)->Value`` waits that long for its session, and each call inside has these
    /// limits. See ``DataAPI/Timeouts`` for what each limit covers, and what the error says.
    ///
    /// - Parameter change: gets the limits that hold so far: those of ``DataAPI/Config/timeouts``, or of the call to this
    ///   method before.
    public func timeouts(_ change: (inout DataAPI.Timeouts) -> Void) -> Self {
        callOptions { change(&$0.timeouts) }
    }

    /// The same, whose calls are logged by this logger: that of a request that is being served, with its metadata.
    ///
    /// ``DataAPI/Config/logger`` says what is logged. The logger's own level counts, whatever that of the server's is.
    public func logger(_ logger: Logger) -> Self {
        callOptions { $0.logger = logger }
    }

    /// The same, whose calls carry a name for what they are part of.
    ///
    ///     people.tagged("nightly import").createRecord(ada)
    ///
    /// - Parameter tag: a text of yours, in the log as `tag` and in the ``FMRest/APIError/request`` of errors; printed as it
    ///   is. It takes the place of the one before.
    public func tagged(_ tag: String) -> Self {
        callOptions { $0.tag = tag }
    }

    /// The same, whose equal reads become one request while it is under way.
    ///
    /// ```swift
    /// let londoners = people.find { $0(.city) == "London" }.shared()
    /// let first = try await londoners.firstRecord().firstValue()        // asked for by a thousand visitors at once, it is one request
    /// print(first?.fieldData.name ?? "")                          // Ada Lovelace
    /// ```
    ///
    /// Whoever asks for what somebody else is just asking for gets the same answer, or the same failure, and sends nothing. Who
    /// comes after the answer asks anew: nothing is kept. Who cancels leaves the others their answer, and the last one ends the
    /// request on the wire. Two reads are equal when they come from the same database object (and, in
    /// ``DataAPI/Database/withSession(isolation:_:)->Value``, the same session), ask for the same in the same types, and have the same
    /// time limits and tag. The time of the one request counts, and the logger of whoever came first.
    ///
    /// Writes and scripts are never shared, and neither are reads that run scripts, streams of records and contents of
    /// containers. What was read before a write through the same database was answered is not given to those who ask after it.
    ///
    /// In nonisolated code the answer is handed to all of them one after the other: a subscriber that blocks holds up the others.
    public func shared() -> Self {
        callOptions { $0.sharesReads = true }
    }
}

extension DataAPI.Calling {
    /// The same, whose reads may be answered by what an equal read was told before.
    ///
    /// ```swift
    /// let menu = countries.cached(for: .seconds(600)).sorted(by: .name)
    /// for _ in 1...3 { print(try await menu.firstRecord().firstValue()?.name ?? "") }     // Afghanistan
    /// ```
    ///
    /// An answer counts from the moment in which it was asked for. Two reads are equal when they would be ``shared()``, and while the
    /// first is under way they are. What is kept is believed, also where a host has answered falsely. Failures are not kept, and a
    /// find without match is one for a host. Of each database, as one account, the last 256 answers are kept that were asked for so,
    /// the ones that nobody has asked for longest go first.
    ///
    /// All are forgotten when something was written through the same database object, when one of its live queries or
    /// ``TypedLayout/changes(of:keptBy:options:isolation:)`` has seen a change, when ``Database/changed(_:)`` tells of one, and with
    /// the account. What somebody else writes shows when the time is over, and no sooner.
    ///
    /// Writes and scripts are sent each time, and so is what takes more than one call: reads that run scripts, streams of records
    /// such as ``FoundSet/all(_:pageSize:isolation:)``, joins, finds in several calls, live queries, contents of containers, and
    /// what saves, upserts and batches read before they write.
    ///
    /// - Parameter age: how old an answer may be.
    public func cached(for age: Duration) -> Self {
        callOptions { $0.cacheTime = age }
    }
}

extension DataAPI.Server: DataAPI.Calling {
    /// The same server, whose calls, and those of the databases that come from it, have other options.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.Server {
        DataAPI.Server(self, calls: calls.changed(change))
    }
}

extension DataAPI.Database: DataAPI.Calling {
    /// The same database, whose calls, and those of its layouts, have other options.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.Database {
        DataAPI.Database(self, calls: calls.changed(change))
    }

    /// For a call of several steps, which share its time and are made as one account.
    var forOneCall: DataAPI.Database {
        DataAPI.Database(self, calls: calls.ofOneCall(in: tenure))
    }
}

extension DataAPI.Layout: DataAPI.Calling {
    /// The same layout, whose calls have other options.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.Layout {
        DataAPI.Layout(name: name, database: database.callOptions(change), table: table)
    }

    /// For a call of several steps, which share its time and are made as one account.
    var forOneCall: DataAPI.Layout {
        DataAPI.Layout(name: name, database: database.forOneCall, table: table)
    }
}
