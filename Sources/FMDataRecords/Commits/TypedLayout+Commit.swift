public import FMDataCore
import NIOCore
public import OpenCombine

extension DataAPI.TypedLayout {
    /// Carries out many writes in transactions, one after the other: each transaction is carried out as a whole or not
    /// at all.
    ///
    /// ```swift
    /// let script = DataAPI.CommitScript("Run Job", in: database.addLayout("Jobs"))
    /// let writes: [DataAPI.RecordWrite<Person>] = [
    ///     .create(Person(name: "Emmy Noether")), .edit(3, setting: ["City": "Göttingen"])
    /// ]
    ///
    /// let committed = try await people.writing(writes, committing: script).summary.firstValue()
    /// print(committed.createdCount, "made,", committed.updatedCount, "edited")     // 1 made, 1 edited
    /// ```
    ///
    /// This needs a script in the file: ``DataAPI/CommitScript``. Without one, the only records that the Data API
    /// itself writes together are a record and its portal rows: ``DataAPI/Draft/portals``.
    ///
    /// Publishes one ``DataAPI/BatchRow`` per write, in their order; ``DataAPI/Batch/summary`` adds them up. A row that
    /// made its commit fail has its own error code, and the other rows of the commit have
    /// ``FMRest/APIError/Code/rolledBack``; the next commits are carried out all the same. On demand for rows,
    /// ``DataAPI/CommitOptions/rowsPerCommit`` writes at a time are requested and sent in one request; another request
    /// reads the script's results. Commits run one after the other. All subscribers share one run.
    ///
    /// **Lost answers** are settled by the job record: it is looked up by the UUID it was given, created again if it
    /// does not exist, and its result is awaited for ``DataAPI/CommitOptions/retryTimeout``. Rows of a job whose result
    /// never arrives are ``DataAPI/WriteResult/Kind/unknown``: no script is started twice. The key field has to be
    /// unique so that this holds for a delayed request, too.
    ///
    /// An atomic commit that was reverted because of a temporary state, such as a locked record (301), is repeated with
    /// pauses of a second until the retry timeout; of a commit that is not atomic, the rows that failed for that reason
    /// are repeated. With a journal, the key of each job is on the disk before its record is created, so that a killed
    /// program can look up the job's results; resume it with the same ``DataAPI/CommitOptions/rowsPerCommit``.
    ///
    /// Fails when the publisher of the writes fails, without sending those that did not fill a commit. Fails after its
    /// rows when no commit can succeed any more: the login is refused, the layout of job records is missing. Cancelling
    /// aborts the request in progress, which may have been carried out.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    /// - Parameters:
    ///   - rows: the writes. A run that resumes another one has to get the same. Upserts are not possible.
    ///   - script: the script that carries them out.
    ///   - journal: records what is sent. Without a journal a killed run cannot be resumed.
    ///   - options: how many writes are committed together, and how. They are options of their own, because most of
    ///     those of a batch, such as its concurrency, have no meaning for commits.
    ///   - isolation: the actor on which values arrive; leave it out.
    public func writing<Rows: Publisher>(
        _ rows: Rows,
        committing script: DataAPI.CommitScript,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.CommitOptions = DataAPI.CommitOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Rows.Output == DataAPI.RecordWrite<R> {
        let news = BatchNews()
        // Not bound to the account as a whole: the results of rows that were sent are published even if the account is
        // replaced.
        let results = OnDemandPublisher {
            let script = script.bound
            news.begins { script.layout.log($0) }
            return commitRows(rows, by: script, journal, options, news)
        }
        return DataAPI.Batch(results.eraseToAnyPublisher(), news: news, server: server, isolation: isolation)
    }

    /// Carries out many writes in transactions, one after the other.
    ///
    ///     people.writing([.create(ada), .edit(17, setting: ["City": "London"]), .delete(18)], committing: script)
    ///
    /// The same as with a publisher of writes.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    public func writing(
        _ rows: some Sequence<DataAPI.RecordWrite<R>>,
        committing script: DataAPI.CommitScript,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.CommitOptions = DataAPI.CommitOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch {
        writing(rows.publisher, committing: script, journal: journal, options: options, isolation: isolation)
    }

    private func commitRows<Rows: Publisher>(
        _ writes: Rows,
        by script: DataAPI.CommitScript,
        _ journal: DataAPI.WriteJournal?,
        _ options: DataAPI.CommitOptions,
        _ news: BatchNews
    ) -> AnyPublisher<DataAPI.BatchRow, FMRest.APIError> where Rows.Output == DataAPI.RecordWrite<R> {
        func rows(_ journal: OpenJournal?) -> AnyPublisher<DataAPI.BatchRow, FMRest.APIError> {
            let commit = Commit(layout: self, script: script, options: options, journal: journal)
            return writes.mapError { FMRest.APIError(wrapping: $0, otherwise: .encoding) }
                .collect(max(1, options.rowsPerCommit))
                .scan((firstIndex: 0, writes: [])) { last, writes in (last.firstIndex + last.writes.count, writes) }
                .orderedMap(concurrency: 1) { firstIndex, writes in commit.rows(of: writes, from: firstIndex) }
                .handleEvents(receiveCompletion: { if case .failure = $0 { news.inputIsUnread() } })
                .eraseToAnyPublisher()
        }
        guard let journal else { return rows(nil) }
        return JournalledPublisher(
            journal: journal,
            header: layout.journalHeader,
            settlingTime: TimeAmount(clamping: max(.zero, options.settlingTime)),
            time: server.time,
            news: news,
            body: rows
        )
        .eraseToAnyPublisher()
    }
}

extension DataAPI.CommitScript {
    /// The same script, with all commits bound to the account of this moment.
    fileprivate var bound: DataAPI.CommitScript {
        var script = self
        script.layout = layout.bound(to: layout.database.accountPeriod)
        return script
    }
}

extension DataAPI {
    /// A script of the file that carries out many writes in one transaction, and the layout through which it gets them.
    ///
    ///     let script = DataAPI.CommitScript("Run Job", in: database.addLayout("Jobs"))
    ///
    /// The Data API has no transaction over several records, but scripts have (FileMaker 19.6.1 and later), and a
    /// request that creates a record can run one. So the writes go as a text into a new *job record*, because a script
    /// parameter could not hold so much, and the script that runs with the request reads them from there. What the
    /// script writes back into the record can be read again when the answer is lost.
    ///
    /// The layout shows three text fields, whose names you choose: ``keyField``, ``payloadField`` and ``resultField``.
    /// The script finds in its record's payload
    ///
    ///     {"layout": "Contacts", "atomic": true, "rows": [
    ///         {"op": "create", "fields": {"Name": "Ada"}},
    ///         {"op": "edit", "id": "17", "mod": "3", "fields": {"City": "London"}},
    ///         {"op": "delete", "id": "18"}]}
    ///
    /// and leaves in its result an element for each row, with the row's number, counted from 0, and, as far as they
    /// exist, the record's id and modId: `[{"i":0,"id":"58","mod":"0"},{"i":1,"id":"17","mod":"4"},{"i":2,"id":"18"}]`.
    /// When the transaction was reverted, the result is one element with a FileMaker error code and, if one row was at
    /// fault, its number: `[{"i":1,"err":504}]`. 5306 says that a record has another modId. With `"atomic": false` each
    /// row is a transaction of its own, and rows that failed have their `err` among the others.
    ///
    /// Such a script is part of the sandbox (`Solution.addJobs()` of FMSandbox, whose documentation shows its steps).
    /// Job records stay in the file; the file has to delete old ones.
    ///
    /// Source: Claris FileMaker Pro Help, "Open Transaction", "Revert Transaction"; Claris Data API guide, "Run
    /// FileMaker scripts".
    public struct CommitScript: Hashable, Sendable {
        /// The script's name.
        public var name: String
        /// The layout of job records.
        public var layout: Layout
        /// The text field by which a job record is found when an answer was lost. The default is `Key`.
        public var keyField: String
        /// The text field for the writes. The default is `Payload`.
        public var payloadField: String
        /// The text field for the results. The default is `Result`.
        public var resultField: String

        /// Makes a script; see the properties for the names.
        public init(
            _ name: String,
            in layout: Layout,
            keyField: String = "Key",
            payloadField: String = "Payload",
            resultField: String = "Result"
        ) {
            self.name = name
            self.layout = layout
            self.keyField = keyField
            self.payloadField = payloadField
            self.resultField = resultField
        }
    }

    /// How many writes are committed together, and how.
    public struct CommitOptions: Hashable, Sendable {
        /// The maximum number of writes in a transaction. The default is 1,000. All its records are locked until it
        /// ends, and one transaction of 100,000 writes takes longer than twenty of 5,000.
        public var rowsPerCommit: Int
        /// Whether a commit carries out all of its writes or none. The default is `true`. With `false` they are still
        /// one request, but each write succeeds or fails alone.
        public var isAtomic: Bool
        /// How long to wait for the result of a commit whose answer was lost or whose script is still running. The
        /// default is 60 seconds.
        public var retryTimeout: Duration
        /// How long the host may still be working on a commit whose answer was lost, or that a killed run has sent: a
        /// job record that does not exist after that was not created. See ``BatchOptions/settlingTime``. The default is
        /// 30 seconds.
        public var settlingTime: Duration
        /// Whether rows that failed permanently in an earlier run of the journal are sent again, changed or not,
        /// because the rows or the file have been corrected. The default is `false`: their failure is published again.
        public var retriesRefused: Bool

        /// Makes options; see the properties for the defaults.
        public init(
            rowsPerCommit: Int = 1_000,
            isAtomic: Bool = true,
            retryTimeout: Duration = .seconds(60),
            settlingTime: Duration = .seconds(30),
            retriesRefused: Bool = false
        ) {
            self.rowsPerCommit = rowsPerCommit
            self.isAtomic = isAtomic
            self.retryTimeout = retryTimeout
            self.settlingTime = settlingTime
            self.retriesRefused = retriesRefused
        }
    }
}
