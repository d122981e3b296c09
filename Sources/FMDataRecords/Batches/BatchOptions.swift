public import FMDataCore

extension DataAPI {
    /// Options of a batch.
    ///
    ///     var options = DataAPI.BatchOptions()
    ///     options.idempotencyKey = "UUID"
    ///     options.onFailure = .stop(after: 100)
    ///
    ///     people.writing(rows, journal: .file(url), options: options)
    public struct BatchOptions: Hashable, Sendable {
        /// The order in which results are published.
        public enum Order: Hashable, Sendable {
            /// Results are published as rows are done.
            case completion
            /// Results are published in the order of the input: a slow row holds back those behind it and, after a
            /// while, the input.
            case input
        }

        /// What happens when rows fail.
        public enum FailurePolicy: Hashable, Sendable {
            /// The other rows are written.
            case goOn
            /// After this many rows that failed or whose outcome is unknown (at least 1), no further row begins. Calls
            /// in progress run to their end; then the batch fails with the error of the row that reached the number.
            case stop(after: Int)
        }

        /// The maximum number of calls at once. The default, `nil`, is 4, or one less than the database's
        /// ``DataAPI/SessionConfiguration/maximumSessions`` where that is less, so that one session is left for other
        /// calls. It is never more than `maximumSessions`, and 1 in a pinned session.
        public var concurrency: Int?
        /// The order in which results are published. The default is ``Order/completion``.
        public var order: Order
        /// What happens when rows fail. The default is ``FailurePolicy/goOn``.
        public var onFailure: FailurePolicy
        /// For creates: the name of a text field of the layout whose value is unique to each record. A row without a
        /// value for it gets a new UUID.
        ///
        /// A create whose answer was lost is looked up by this field, so no record is created twice. Without it, the
        /// default, such a row ends as ``DataAPI/WriteResult/Kind/unknown``. A run that resumes another one has to use
        /// the same field: rows sent without a key, or with a key in another field, stay unknown.
        public var idempotencyKey: String?
        /// How long a row is retried that the server refuses temporarily: the record is locked (301), the host is full,
        /// the file is closed. The time counts from the row's first error. The default is 30 seconds.
        public var retryTimeout: Duration
        /// How long the host may still be working on a request whose answer was lost, including the scripts it runs. A
        /// record that does not exist this long after the connection broke, or after a killed run was resumed, was not
        /// created. The default is 30 seconds.
        ///
        /// A create or an upsert that the first lookup does not find waits this long while the other rows go on. If the
        /// time is too short, a delayed request may be carried out twice, unless the key field is unique in the file.
        public var settlingTime: Duration
        /// Whether an edit without a modId whose answer was lost is sent again when the record does not hold its fields
        /// after the ``settlingTime``. This overwrites changes that other clients made in between, so use it only for
        /// edits that are right at any time, such as constants. The default is `false`: such a row is
        /// ``DataAPI/WriteResult/Kind/unknown``.
        public var repeatsEditsWithoutModId: Bool
        /// Whether rows that failed permanently in an earlier run of the journal are sent again, changed or not,
        /// because the rows or the file have been corrected. The default is `false`: their failure is published again.
        public var retriesRefused: Bool

        /// Makes options; see the properties for the defaults.
        public init(
            concurrency: Int? = nil,
            order: Order = .completion,
            onFailure: FailurePolicy = .goOn,
            idempotencyKey: String? = nil,
            retryTimeout: Duration = .seconds(30),
            settlingTime: Duration = .seconds(30),
            repeatsEditsWithoutModId: Bool = false,
            retriesRefused: Bool = false
        ) {
            self.concurrency = concurrency
            self.order = order
            self.onFailure = onFailure
            self.idempotencyKey = idempotencyKey
            self.retryTimeout = retryTimeout
            self.settlingTime = settlingTime
            self.repeatsEditsWithoutModId = repeatsEditsWithoutModId
            self.retriesRefused = retriesRefused
        }

        /// Makes options whose ``idempotencyKey`` is the field of this coding key; all others have their defaults.
        public init(idempotencyKey: some CodingKey) {
            self.init(idempotencyKey: idempotencyKey.stringValue)
        }
    }
}
