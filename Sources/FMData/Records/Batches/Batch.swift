import NIOCore
public import OpenCombine

extension DataAPI {
    /// Many writes, of which each has an outcome of its own: a publisher of what became of each row.
    ///
    /// ```swift
    /// let batch = [Person(name: "Annie Jump Cannon"), Person(name: "Vera Rubin")].publisher.create(in: people)
    /// for try await row in batch.values {                         // one BatchRow for each row, as they are done
    ///     if let error = row.error { print("row \(row.index): \(error)") }
    /// }
    ///
    /// let edits = [DataAPI.RecordEdit(2, ["City": "Lyon"]), DataAPI.RecordEdit(99_999, ["City": "Lyon"])]
    /// let summary = try await edits.publisher.edit(in: people).summary.firstValue()      // one value when all are done
    /// print(summary.editedCount, summary.failedCount)             // 1 1
    /// ```
    ///
    /// Made by the operators `create(in:)`, `edit(in:)`, `delete(in:)` and `upsert(in:by:)` of any publisher of values. Nothing is
    /// sent before demand. **Each subscription writes all rows**: to see rows and a summary of one run, use
    /// ``OpenCombine/Publisher/summarized(after:)``.
    ///
    /// **What is under way.** A few calls run at once (``BatchOptions/concurrency``), each in a session of the database's pool; on
    /// a host that is full or slow there are fewer. Rows are asked of their publisher as results are asked for: at most as many as
    /// are demanded (256 at most), and `concurrency` besides, are under way at any time. So the input may be as long as it likes,
    /// and some rows beyond those whose results were asked for are written. A publisher that drops what nobody has asked for, as a
    /// `PassthroughSubject` does, needs a buffer.
    ///
    /// **Order.** Rows that name the same record, by its id or by the key of an upsert, are written in their order. All others
    /// overtake each other; ``BatchOptions/order`` says in which order results are published.
    ///
    /// **What goes wrong** is told row by row:
    ///
    /// | what | the row | the others |
    /// |---|---|---|
    /// | somebody has the record open (301), or another state that passes | is tried again with growing pauses for ``BatchOptions/patience``, then fails | go on |
    /// | the host is full (812, 956, 953), or a call took too long before it was sent | the same | fewer at once |
    /// | the record has another modId (306) | fails; an upsert looks again | go on |
    /// | there is no such record (101) | fails; a delete succeeds | go on |
    /// | validation (500 to 513), missing or protected fields (102, 201) | fails | go on; 102 in each of the first three rows ends the batch |
    /// | the answer was lost, so that nobody knows whether it was carried out | is looked up before anything is sent again | go on |
    /// | the login is refused, the layout is missing (105), the server object was shut down, its credentials were replaced | fails | the batch ends |
    ///
    /// **Lost answers.** A create is looked up by its ``BatchOptions/idempotencyKey``: it is sent again when no record has the key,
    /// also some time later. Without a key its outcome stays unknown. An edit with a modId is sent again when the record still has
    /// that modId, is done when the record has the next one and the edit's fields, and fails otherwise; without a modId it is done
    /// when the record has its fields, else unknown. A delete is repeated: 101 means done. An upsert looks for its key again.
    ///
    /// **Nothing here is a transaction.** Rows are committed one by one, and an upsert is two calls: somebody else may make a
    /// record of the same key between them, which only a unique field keeps from becoming two.
    ///
    /// Values arrive on the actor in whose code the operator is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>. The batch fails only when no row can succeed any more, with the publisher of its rows, once what is
    /// under way has ended, or as ``BatchOptions/onFailure`` says. Cancelling ends the calls that are under way on the wire, any of
    /// which may have been carried out; nothing more is published.
    public struct Batch: Publisher {
        /// What became of a row.
        public typealias Output = BatchRow
        /// Why there are no more.
        public typealias Failure = FMRest.APIError

        /// Where what it brings is handed over.
        let isolation: (any Actor)?
        let server: Server
        let resumption: BatchResumption?
        /// The rows where they arrive, for what is made of them in this library.
        let arrivingRows: AnyPublisher<BatchRow, FMRest.APIError>

        /// Attaches the subscriber. Nothing is asked for before it asks.
        public func receive<Downstream: Subscriber<BatchRow, FMRest.APIError>>(subscriber: Downstream) {
            arrivingRows.handedOver(to: isolation, by: server).receive(subscriber: subscriber)
        }

        /// What all rows come to; of a run that resumes another one, with what that came to.
        ///
        /// Writes all rows, then publishes one value and finishes; never fails: what stopped the batch is in
        /// ``BatchSummary/stop``. Nothing is sent before demand. Cancelling is as that of the batch.
        ///
        /// Values arrive on the actor in whose code the operator is written, else as ``DataAPI/Config/delivery`` says:
        /// <doc:WhereValuesArrive>.
        public var summary: AnyPublisher<BatchSummary, FMRest.APIError> {
            arrivingRows.summarized(after: resumption?.summary ?? BatchSummary()).handedOver(to: isolation, by: server)
        }

        init<Upstream: Publisher, R: RecordFields>(
            of upstream: Upstream,
            in layout: TypedLayout<R>,
            _ options: BatchOptions,
            isolation: (any Actor)?,
            _ operation: @escaping (TypedLayout<R>) -> BatchOperation.Maker<Upstream.Output>
        ) {
            self.isolation = isolation
            server = layout.server
            resumption = options.resumption
            let database = layout.layout.database
            // What was asked for as one account is written as that or not at all. The rows themselves end the batch,
            // since what became of those that were sent has to be told.
            arrivingRows = OnDemandPublisher {
                BatchPublisher(
                    upstream: upstream,
                    settings: BatchStateMachine.Settings(options, in: database),
                    resumption: options.resumption,
                    time: database.server.time,
                    random: database.server.random,
                    makeOperation: operation(layout.bound(to: database.tenure))
                )
                .eraseToAnyPublisher()
            }
            .eraseToAnyPublisher()
        }
    }
}

extension BatchStateMachine.Settings {
    fileprivate init(_ options: DataAPI.BatchOptions, in database: DataAPI.Database) {
        concurrency = database.concurrency(options.concurrency)
        order = options.order
        if case .stop(let count) = options.onFailure { failureLimit = max(1, count) }
        patience = TimeAmount(clamping: max(.zero, options.patience))
        lookAgainAfter = TimeAmount(clamping: options.lookAgainAfter)
    }
}

extension DataAPI.Database {
    /// How many calls of a batch may run at once.
    fileprivate func concurrency(_ wanted: Int?) -> Int {
        // A pinned session answers one call after the other.
        guard case .pool = sessions else { return 1 }
        let maximum = server.config.sessions.maximumSessions
        return max(1, wanted.map { min($0, maximum) } ?? min(4, maximum - 1))
    }
}
