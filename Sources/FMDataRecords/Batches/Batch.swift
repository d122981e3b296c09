public import FMDataCore
import NIOCore
public import OpenCombine

extension DataAPI {
    /// A batch of writes, each with its own result: a publisher of one `BatchRow` per row.
    ///
    /// ```swift
    /// let newcomers = [Person(name: "Annie Jump Cannon"), Person(name: "Vera Rubin")]
    /// let batch = people.writing(newcomers.map { .create($0) })
    /// for try await row in batch.values {                         // one BatchRow for each row, as they are done
    ///     if let error = row.error { print("row \(row.index): \(error)") }
    /// }
    /// let made = try await batch.summary.firstValue()             // what they came to; nothing is written by asking
    /// print(made.createdCount)                                    // 2
    ///
    /// let edits = [2, 99_999].map { DataAPI.RecordWrite<Person>.edit($0, setting: ["City": "Lyon"]) }
    /// let summary = try await people.writing(edits).summary.firstValue()
    /// print(summary.updatedCount, summary.failedCount)            // 1 1
    /// ```
    ///
    /// Batches are made by ``TypedLayout/writing(_:journal:options:isolation:)-(Rows,_,_,_)`` from a publisher or a
    /// sequence of ``RecordWrite``. ``TypedLayout/writing(_:committing:journal:options:isolation:)-(Rows,_,_,_,_)``
    /// writes the same rows in transactions.
    ///
    /// **A batch is one run, however many subscribers it has.** Nothing is sent before there is demand. A later
    /// subscriber to the rows receives them from then on, and one that comes after all rows fails; the summary always
    /// covers all rows. Rows are published as fast as the slowest subscriber to the rows demands them. When the last
    /// subscriber cancels, after there was demand, the run is cancelled. A run that has ended stays ended: make another
    /// batch to write again.
    ///
    /// **Concurrency.** A few calls run at once (``BatchOptions/concurrency``), each in a session of the database's
    /// pool, fewer on a host that is full or slow. Rows are requested from their publisher as results are demanded: at
    /// any time at most the number demanded (256 at most) plus `concurrency` rows are in progress. So the input may be
    /// endless, and some rows beyond the demanded results are written. A publisher that drops values without demand,
    /// such as a `PassthroughSubject`, needs a buffer.
    ///
    /// **Order.** Rows that name the same record, by its id or by the key of an upsert, are written in their order. All
    /// other rows may overtake each other; ``BatchOptions/order`` sets the order in which results are published.
    ///
    /// **Errors** belong to single rows, and the other rows go on, unless the list says otherwise:
    ///
    /// - The record is locked (301), the file is closed (802), the session's token is refused in a new session, too
    ///   (952), or the server reports another temporary state: the row is retried with growing pauses for
    ///   ``BatchOptions/retryTimeout``, then fails.
    /// - The host is full (812, 956, 953), or a call timed out before it was sent: the same, and fewer calls run at
    ///   once.
    /// - The record has another modId (306): the row fails; an upsert looks the record up again.
    /// - The record does not exist (101): the row fails; a delete succeeds.
    /// - Validation (500 to 513), missing or protected fields (102, 201): the row fails. 102 for each of the first
    ///   three rows ends the batch.
    /// - The answer was lost, so the outcome is unknown: the row is looked up before anything is sent again.
    /// - A create has the key of an earlier row, or of another row in the journal, or a key with white space at its
    ///   ends: the row fails without a request.
    /// - The login is refused, the layout is missing (105), the server object was shut down, or its credentials were
    ///   replaced: the row fails, the others are skipped, and the batch ends.
    /// - The journal cannot be written: rows that were not sent are skipped, and the batch ends.
    ///
    /// Rows that have not begun when a batch ends are published as skipped. This includes rows of the input that were
    /// not requested yet, if their publisher sends them as soon as they are requested; a slower publisher is cancelled
    /// instead (``BatchSummary/isInputUnread``).
    ///
    /// **Lost answers.**
    ///
    /// - A create is looked up by its ``BatchOptions/idempotencyKey``. It is done when exactly one record has that key,
    ///   compared letter by letter, and, if the row itself had the key, holds what the row wrote. It is sent again when
    ///   no record has the key, even after ``BatchOptions/settlingTime``. It is unknown when a record has the key in
    ///   another spelling and the row's other fields: the file may have changed the key as it was entered. Without a
    ///   key it stays unknown.
    /// - An edit with a modId is sent again when the record still has that modId; otherwise it is unknown, even if the
    ///   record holds the edit's fields, since another client may have written the same. An edit without a modId is
    ///   done when the record has its fields; otherwise it is unknown, or sent again
    ///   (``BatchOptions/repeatsEditsWithoutModId``).
    /// - A delete is repeated: 101 means done. If the repeated delete is refused, the row stays unknown.
    /// - An upsert looks its key up again. It is done when the record holds its fields, is sent again when the record
    ///   is as it was found before or does not exist, and is unknown when another client has changed the record since,
    ///   or a record has the key in another spelling.
    /// - A row whose answers are lost again and again is sent until ``BatchOptions/retryTimeout``, three times at
    ///   least, and then fails if it has not arrived.
    ///
    /// **Keys** of upserts are compared letter by letter. A row for whose key FileMaker finds only records that have it
    /// in another spelling (case, accents) or another form, such as a date written in another way, fails, and nothing
    /// is written: if the file changes keys as they are entered, a new record would be made in each run. The keys of
    /// creates are kept in memory until the run ends.
    ///
    /// **A batch is not a transaction.** Rows are committed one by one, and an upsert is two calls: another client may
    /// create a record with the same key between them. Only a unique field prevents the second record.
    ///
    /// The batch fails only when no row can succeed any more, when the publisher of its rows fails, or as
    /// ``BatchOptions/onFailure`` says, each time after the calls in progress have ended. Cancelling aborts the calls
    /// in progress, any of which may have been carried out.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    public struct Batch: Publisher {
        /// The result of a row.
        public typealias Output = BatchRow
        /// Why the batch ended before its input.
        public typealias Failure = FMRest.APIError

        /// The actor on which values arrive.
        let isolation: (any Actor)?
        let server: Server
        private let run: BatchRun

        /// Attaches a subscriber. Nothing is requested before the subscriber has demand.
        public func receive<Downstream: Subscriber<BatchRow, FMRest.APIError>>(subscriber: Downstream) {
            BatchView(run: run, sight: .rows { $0 }).delivered(on: isolation, by: server).receive(
                subscriber: subscriber
            )
        }

        /// The totals of all rows, including rows that an earlier run of the same journal has settled.
        ///
        /// Publishes when the run has ended. Fails with the error that stopped the batch, whose
        /// ``FMRest/APIError/batchSummary`` has the totals. Demand for the value starts the run if it has not started.
        ///
        /// - Note: One value. See <doc:Calls>.
        public var summary: AnyPublisher<BatchSummary, FMRest.APIError> {
            BatchView(run: run, sight: .summary { $0 }).delivered(on: isolation, by: server)
        }

        /// The totals so far.
        ///
        /// Publishes the newest totals whenever there is demand and rows have ended since the last value, at the end
        /// those of ``summary``, and finishes; never fails: ``BatchSummary/stop`` holds the error that stopped the
        /// batch. Demand starts the run if it has not started.
        ///
        /// - Note: Many values, as they are asked for. See <doc:Calls>.
        public var progress: AnyPublisher<BatchSummary, FMRest.APIError> {
            BatchView(run: run, sight: .progress { $0 }).delivered(on: isolation, by: server)
        }

        init(_ rows: BatchRun.Source, news: BatchNews = BatchNews(), server: Server, isolation: (any Actor)?) {
            run = BatchRun(rows, news: news)
            self.server = server
            self.isolation = isolation
        }

        /// - Parameter upstream: returns the rows, which may depend on what earlier runs have noted.
        init<Upstream: Publisher, R: RecordFields>(
            of upstream: @escaping (OpenJournal?) -> Upstream,
            in layout: TypedLayout<R>,
            journal: WriteJournal?,
            _ options: BatchOptions,
            isolation: (any Actor)?
        ) where Upstream.Output == RecordWrite<R> {
            let news = BatchNews()
            let database = layout.layout.database
            // All calls are bound to the account of the moment at which the run starts. The rows publisher itself is
            // not: the results of rows that were sent have to be published even if the account is replaced.
            let rows = OnDemandPublisher {
                let bound = layout.bound(to: database.accountPeriod)
                news.begins { bound.layout.log($0) }
                return BatchPublisher(
                    upstream: upstream,
                    settings: BatchStateMachine.Settings(options, in: database),
                    journal: journal.map { ($0, layout.layout.journalHeader) },
                    retriesRefused: options.retriesRefused,
                    news: news,
                    time: database.server.time,
                    random: database.server.random,
                    makeOperation: BatchOperation.ofWrite(
                        in: bound,
                        keyField: options.idempotencyKey
                    )
                )
                .eraseToAnyPublisher()
            }
            self.init(rows.eraseToAnyPublisher(), news: news, server: database.server, isolation: isolation)
        }
    }
}

extension DataAPI.Layout {
    /// The header of a journal of writes to this layout.
    var journalHeader: JournalHeader {
        let server = database.server
        return JournalHeader(
            origin: (try? server.origin.get()).map { "\($0)" } ?? "",
            database: database.name,
            layout: name,
            random: server.random
        )
    }
}

extension BatchStateMachine.Settings {
    init(_ options: DataAPI.BatchOptions, in database: DataAPI.Database) {
        concurrency = database.concurrency(options.concurrency)
        order = options.order
        if case .stop(let count) = options.onFailure { failureLimit = max(1, count) }
        retryTimeout = TimeAmount(clamping: max(.zero, options.retryTimeout))
        settlingTime = TimeAmount(clamping: max(.zero, options.settlingTime))
        repeatsUnguardedEdits = options.repeatsEditsWithoutModId
    }
}

extension DataAPI.Database {
    /// How many calls of a batch may run at once.
    fileprivate func concurrency(_ wanted: Int?) -> Int {
        let maximum = maximumConcurrentCalls
        return max(1, wanted.map { min($0, maximum) } ?? min(4, maximum - 1))
    }
}

extension DataAPI.TypedLayout {
    /// Carries out many writes, each with its own result.
    ///
    ///     people.writing(newcomers.publisher.map { .create($0) })
    ///     people.writing(people.all().map { .edit($0.recordId, setting: ["Seen": 1], modId: $0.modId) })
    ///     people.writing(rows, journal: .file(url), options: .init(idempotencyKey: "UUID"))
    ///
    /// Publishes one ``DataAPI/BatchRow`` per write. With a journal, a killed program can resume the writes: make the
    /// same call with the same journal and the same rows in the same order. ``DataAPI/WriteJournal`` says what happens
    /// to each row; see ``DataAPI/Batch`` for everything else.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    /// - Parameters:
    ///   - rows: the writes. A run that resumes another one has to get the same.
    ///   - journal: records what is sent. Without a journal a killed run cannot be resumed.
    ///   - options: how the rows are written.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Create a record", "Edit a record", "Delete a record" and "Perform a find
    /// request".
    public func writing<Rows: Publisher>(
        _ rows: Rows,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Rows.Output == DataAPI.RecordWrite<R> {
        DataAPI.Batch(of: { _ in rows }, in: self, journal: journal, options, isolation: isolation)
    }

    /// Carries out many writes, each with its own result.
    ///
    ///     people.writing([.create(ada), .edit(17, setting: ["City": "London"]), .delete(18)])
    ///     people.writing(contacts.map { .upsert($0, by: .email) }, journal: .file(url))
    ///
    /// The same as with a publisher of writes.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    public func writing(
        _ rows: some Sequence<DataAPI.RecordWrite<R>>,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch {
        writing(rows.publisher, journal: journal, options: options, isolation: isolation)
    }
}

extension DataAPI {
    /// The result of one row of a batch.
    public struct BatchRow: Sendable {
        /// The row's place in the input, counted from 0.
        public var index: Int
        /// The value of the row's key field, or the id of its record. `nil` for a record that is created without a key.
        public var key: String?
        /// The result of the write.
        public var result: WriteResult
        /// Whether an earlier run of the same journal has settled the row: this run sent nothing for it.
        public var isFromJournal: Bool

        /// Makes a value for tests and doubles; see the properties for its parts.
        public init(index: Int, key: String? = nil, result: WriteResult, isFromJournal: Bool = false) {
            self.index = index
            self.key = key
            self.result = result
            self.isFromJournal = isFromJournal
        }
    }
}

extension DataAPI.BatchRow {
    /// Whether the host has what was to be written.
    public var isDone: Bool { result.isDone }

    /// The record that was created or edited, if it is known.
    public var recordId: Int? { result.recordId }

    /// Why the row failed, or why its outcome is unknown.
    public var error: FMRest.APIError? { result.error }
}

extension DataAPI.BatchRow: CustomStringConvertible, CustomReflectable {
    /// The row's index and result, without any field value: the key is left out.
    public var description: String { "row \(index): \(result)" + (isFromJournal ? ", by the journal" : "") }

    /// Children for a dump, without any field value.
    public var customMirror: Mirror { Mirror(self, children: ["index": index, "result": result]) }
}
