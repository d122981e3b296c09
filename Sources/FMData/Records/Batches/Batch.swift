import NIOCore
public import OpenCombine

extension DataAPI {
    /// Many writes, of which each has a result of its own: a publisher of what became of each row.
    ///
    /// ```swift
    /// let batch = [Person(name: "Annie Jump Cannon"), Person(name: "Vera Rubin")].publisher.create(in: people)
    /// for try await row in batch.values {                         // one BatchRow for each row, as they are done
    ///     if let error = row.error { print("row \(row.index): \(error)") }
    /// }
    /// let made = try await batch.summary.firstValue()             // what they came to; nothing is written by asking
    /// print(made.createdCount)                                    // 2
    ///
    /// let edits = [DataAPI.RecordEdit(2, ["City": "Lyon"]), DataAPI.RecordEdit(99_999, ["City": "Lyon"])]
    /// let summary = try await people.writing(edits.map { .edit($0) }).summary.firstValue()
    /// print(summary.updatedCount, summary.failedCount)            // 1 1
    /// ```
    ///
    /// Made by ``TypedLayout/writing(_:journal:options:isolation:)-(Rows,_,_,_)``, and by the operators `create(in:)`, `edit(in:)`,
    /// `delete(in:)`, `upsert(in:by:)` and `commit(in:by:)` of any publisher of values.
    ///
    /// **It is one run, however many look at it.** Nothing is sent before somebody asks for something; whoever
    /// subscribes later to the rows sees them from then on, and the summary is always whole. Rows come as fast as the
    /// slowest asks who wants them. When nobody looks any more, having asked, it is cancelled. A run that is over stays
    /// over: to write again make another batch.
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
    /// | somebody has the record open (301), the file is closed for the moment (802), or another state that passes | is tried again with growing pauses for ``BatchOptions/patience``, then fails | go on |
    /// | the host is full (812, 956, 953), or a call took too long before it was sent | the same | fewer at once |
    /// | the record has another modId (306) | fails; an upsert looks again | go on |
    /// | there is no such record (101) | fails; a delete succeeds | go on |
    /// | validation (500 to 513), missing or protected fields (102, 201) | fails | go on; 102 in each of the first three rows ends the batch |
    /// | the answer was lost, so that nobody knows whether it was carried out | is looked up before anything is sent again | go on |
    /// | a create brings a key that a row before it has, or one with blanks at its ends | fails without a request | go on |
    /// | the login is refused, the layout is missing (105), the server object was shut down, its credentials were replaced | fails | are skipped, and the batch ends |
    /// | the journal cannot be written | is skipped | the same |
    ///
    /// Rows that have not begun when a batch ends are told as skipped, those of the input as well that were not asked
    /// for yet, as long as they come when they are asked for: a publisher that takes its time for them is cancelled
    /// instead (``BatchSummary/isInputUnread``).
    ///
    /// **Lost answers.** A create is looked up by its ``BatchOptions/idempotencyKey``. It is done when a record has
    /// exactly that key, letter by letter, and, if the row itself brought the key, what the row wrote; it is sent again
    /// when no record has it, also after ``BatchOptions/settlingTime``. Without a key it stays unknown. An edit with a
    /// modId is sent again when the record still has that modId, is done when the record has the next one and the
    /// edit's fields, and unknown when somebody else has changed it since; without a modId it is done when the record
    /// has its fields, else unknown, or sent again (``BatchOptions/repeatsEditsWithoutModId``). A delete is repeated:
    /// 101 means done, and where it is refused then, it stays unknown. An upsert looks for its key again: it is done when the record holds its fields, is sent again when
    /// the record is as it was found before, or not there, and unknown when somebody else has changed it since.
    ///
    /// **Keys** of upserts are compared letter by letter. A record that has the key in another case, or with other accents,
    /// is not the row's: a new one is made, or refused with 504 where the field is validated as unique. A record that
    /// has it in another form, such as a date that is written in another way, makes the row fail. The keys that creates
    /// bring are kept until the run has ended.
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
        private let run: BatchRun

        /// Attaches the subscriber. Nothing is asked for before it asks.
        public func receive<Downstream: Subscriber<BatchRow, FMRest.APIError>>(subscriber: Downstream) {
            BatchView(run: run, sight: .rows { $0 }).handedOver(to: isolation, by: server).receive(
                subscriber: subscriber
            )
        }

        /// What all rows come to, those included that an earlier run of the same journal has dealt with.
        ///
        /// Publishes one value when the run has ended and finishes; never fails: what stopped the batch is in
        /// ``BatchSummary/stop``. It begins the run, if nobody has, when it is asked for its value.
        ///
        /// Values arrive on the actor in whose code the operator is written, else as ``DataAPI/Config/delivery`` says:
        /// <doc:WhereValuesArrive>.
        public var summary: AnyPublisher<BatchSummary, FMRest.APIError> {
            BatchView(run: run, sight: .summary { $0 }).handedOver(to: isolation, by: server)
        }

        /// What the rows have come to so far.
        ///
        /// Publishes the newest whenever one is asked for and rows have ended since the last, in the end what
        /// ``summary`` publishes, and finishes; never fails. It begins the run, if nobody has, when it is asked for a
        /// value.
        ///
        /// Values arrive on the actor in whose code the operator is written, else as ``DataAPI/Config/delivery`` says:
        /// <doc:WhereValuesArrive>.
        public var progress: AnyPublisher<BatchSummary, FMRest.APIError> {
            BatchView(run: run, sight: .progress { $0 }).handedOver(to: isolation, by: server)
        }

        init(_ rows: BatchRun.Source, news: BatchNews = BatchNews(), server: Server, isolation: (any Actor)?) {
            run = BatchRun(rows, news: news)
            self.server = server
            self.isolation = isolation
        }

        init<Upstream: Publisher, R: RecordFields>(
            of upstream: Upstream,
            in layout: TypedLayout<R>,
            journal: WriteJournal?,
            _ options: BatchOptions,
            isolation: (any Actor)?,
            _ operation: @escaping (TypedLayout<R>) -> BatchOperation.Maker<Upstream.Output>
        ) {
            let news = BatchNews()
            let database = layout.layout.database
            // What was asked for as one account is written as that or not at all. The rows themselves end the batch,
            // since what became of those that were sent has to be told.
            let rows = OnDemandPublisher {
                BatchPublisher(
                    upstream: upstream,
                    settings: BatchStateMachine.Settings(options, in: database),
                    journal: journal.map { ($0, layout.layout.journalHeader) },
                    retriesRefused: options.retriesRefused,
                    news: news,
                    time: database.server.time,
                    random: database.server.random,
                    makeOperation: operation(layout.bound(to: database.tenure))
                )
                .eraseToAnyPublisher()
            }
            self.init(rows.eraseToAnyPublisher(), news: news, server: database.server, isolation: isolation)
        }
    }
}

extension DataAPI.Layout {
    /// What a journal of writes into this layout is for.
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
        patience = TimeAmount(clamping: max(.zero, options.patience))
        settlingTime = TimeAmount(clamping: max(.zero, options.settlingTime))
        repeatsUnguardedEdits = options.repeatsEditsWithoutModId
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
