extension DataAPI {
    /// How a batch is written.
    ///
    ///     var options = DataAPI.BatchOptions()
    ///     options.idempotencyKey = "UUID"
    ///     options.onFailure = .stop(after: 100)
    ///
    ///     rows.publisher.create(in: people, options: options)
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
        /// It is what a create whose answer was lost is looked up by, and so what makes sure that no record is made twice. Without
        /// it, the default, such a row ends as ``DataAPI/BatchRow/Outcome/unknown(_:)``.
        public var idempotencyKey: String?
        /// How long a row is tried again that the server refuses for the moment: somebody has the record open (301), the host is
        /// full. It counts from the row's first trouble. The default is 30 seconds.
        public var patience: Duration
        /// When to look a second time for a record that may still be on its way.
        var lookAgainAfter = Duration.milliseconds(500)
        /// What an earlier run came to.
        private(set) var resumption: BatchResumption?

        /// Options; see the properties for the defaults.
        public init(
            concurrency: Int? = nil,
            order: Order = .completion,
            onFailure: FailurePolicy = .goOn,
            idempotencyKey: String? = nil,
            patience: Duration = .seconds(30)
        ) {
            self.concurrency = concurrency
            self.order = order
            self.onFailure = onFailure
            self.idempotencyKey = idempotencyKey
            self.patience = patience
        }
    }
}

extension DataAPI.BatchOptions {
    /// The same options for another run over the same rows, which goes on where an earlier one ended.
    ///
    ///     let summary = try JSONDecoder().decode(DataAPI.BatchSummary.self, from: saved)
    ///     rows.publisher.create(in: people, options: options.resuming(after: summary)).summary
    ///
    /// The input has to be the same, in the same order. Rows that were done are passed over without a result, and so are those
    /// that failed for good. Rows that failed for a reason that may have passed, and those that were skipped, are sent. Those
    /// whose outcome was unknown are looked up first, or stay unknown where that cannot be. The new run's
    /// ``DataAPI/Batch/summary`` goes on from the earlier one, and counts each row once.
    ///
    /// - Parameters:
    ///   - summary: what the earlier run came to, or had come to when the program ended.
    ///   - retryingAll: whether rows that failed for good are sent again as well, since somebody has put them right.
    ///   - unsure: how many of the next rows an earlier run may have sent without living to tell: those that were under way when
    ///     the program was killed, and those done since the summary was last kept. They are looked up first where the row itself
    ///     says by what: creates that bring a value for ``idempotencyKey``, edits with a modId. Other creates may be made twice
    ///     then.
    public func resuming(
        after summary: DataAPI.BatchSummary,
        retryingAll: Bool = false,
        unsure: Int = 100
    ) -> DataAPI.BatchOptions {
        var options = self
        options.resumption = BatchResumption(summary: summary, retriesAll: retryingAll, unsureCount: unsure)
        return options
    }
}

/// How a run goes on from an earlier one.
struct BatchResumption: Hashable, Sendable {
    let summary: DataAPI.BatchSummary
    let retriesAll: Bool
    let unsureCount: Int

    /// What an earlier run has done with a row.
    enum Earlier: Equatable {
        /// It was dealt with.
        case done
        /// It is as good as new.
        case nothing
        /// Perhaps it was sent.
        case perhapsSent
        /// It was sent, and nobody knows what became of it.
        case unknown(key: String?)
    }

    /// - Parameter unheardOf: how many rows before it the summary does not know.
    func earlier(_ index: Int, unheardOf: Int) -> Earlier {
        switch summary.state(of: index) {
        case .done: .done
        case .refused: retriesAll ? .nothing : .done
        case .retryable, .skipped: .nothing
        case .unknown: .unknown(key: summary.problem(of: index)?.key)
        case nil: unheardOf < unsureCount ? .perhapsSent : .nothing
        }
    }
}
