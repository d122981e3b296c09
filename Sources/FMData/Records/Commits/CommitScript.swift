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
