extension DataAPI {
    /// How a batch is written.
    ///
    ///     var options = DataAPI.BatchOptions()
    ///     options.idempotencyKey = "UUID"
    ///     options.onFailure = .stop(after: 100)
    ///
    ///     people.writing(rows, journal: .file(url), options: options)
    public struct BatchOptions: Hashable, Sendable {
        /// In which order results are published.
        public enum Order: Hashable, Sendable {
            /// As rows are done.
            case completion
            /// As rows came: a row that takes its time holds back those behind it, and some time later the input.
            case input
        }

        /// What to do when rows fail.
        public enum FailurePolicy: Hashable, Sendable {
            /// Write the others.
            case goOn
            /// With so many rows that failed or whose outcome is unknown, begin no further one. What is under way goes on to
            /// its end, and then the batch fails with the error of the row that was one too many.
            case stop(after: Int)
        }

        /// The most calls at once. The default, `nil`, is 4, or one less than the database's
        /// ``DataAPI/SessionConfiguration/maximumSessions`` where that is less, so that one session is left for others. It is never
        /// more than there may be sessions.
        public var concurrency: Int?
        /// In which order results are published. The default is as rows are done.
        public var order: Order
        /// What to do when rows fail. The default is to write the others.
        public var onFailure: FailurePolicy
        /// For creates: the name of a text field of the layout that holds a value which no other record has. A row that has none
        /// gets a new UUID.
        ///
        /// It is what a create whose answer was lost is looked up by, and so what makes sure that no record is made
        /// twice. Without it, the default, such a row ends as ``DataAPI/WriteResult/Kind/unknown``. Who resumes a run keeps
        /// to the same field: what was sent without a key, or with one in another field, stays unknown.
        public var idempotencyKey: String?
        /// How long a row is tried again that the server refuses for the moment: somebody has the record open (301),
        /// the host is full, the file is closed. It counts from the row's first trouble. The default is 30 seconds.
        public var patience: Duration
        /// How long the host may still be at work on a request whose answer was lost, with the scripts that it runs: a
        /// record that is not there so long after the connection broke, or after a killed run was taken up, was not
        /// made. The default is 30 seconds.
        ///
        /// A create or an upsert that is not found at the first look waits for so long, and the other rows go on. With
        /// a time that is too short a request that was held up on its way may be carried out twice, unless the key
        /// field is unique in the file.
        public var settlingTime: Duration
        /// Whether an edit without a modId whose answer was lost is sent again when the record does not hold its fields
        /// once the ``settlingTime`` is over. Somebody else's change in between is overwritten then, so it is for edits
        /// that would be right at any time: constants. The default is no, and such a row is
        /// ``DataAPI/WriteResult/Kind/unknown``.
        public var repeatsEditsWithoutModId: Bool
        /// Whether rows that an earlier run of the journal told as failed for good are sent again, changed or not,
        /// since somebody has put them or the file right. The default is no: they are told again as they were.
        public var retriesRefused: Bool

        /// Options; see the properties for the defaults.
        public init(
            concurrency: Int? = nil,
            order: Order = .completion,
            onFailure: FailurePolicy = .goOn,
            idempotencyKey: String? = nil,
            patience: Duration = .seconds(30),
            settlingTime: Duration = .seconds(30),
            repeatsEditsWithoutModId: Bool = false,
            retriesRefused: Bool = false
        ) {
            self.concurrency = concurrency
            self.order = order
            self.onFailure = onFailure
            self.idempotencyKey = idempotencyKey
            self.patience = patience
            self.settlingTime = settlingTime
            self.repeatsEditsWithoutModId = repeatsEditsWithoutModId
            self.retriesRefused = retriesRefused
        }

        /// Options whose ``idempotencyKey`` is the field of this coding key; all else is as by default.
        public init(idempotencyKey: some CodingKey) {
            self.init(idempotencyKey: idempotencyKey.stringValue)
        }
    }
}
