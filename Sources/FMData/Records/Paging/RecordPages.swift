public import OpenCombine

extension DataAPI {
    /// All records of a found set, page after page, still to be read: a publisher of the records, or of the pages.
    ///
    /// ```swift
    /// let all = countries.all()                                   // the records, one by one
    /// let loud = all.reportingProgress { progress in              // the same, and how far it has come
    ///     print("\(progress.delivered) of \(progress.total ?? 0)")        // 249 of 249
    /// }
    /// print(try await loud.collect().firstValue().count)          // 249
    ///
    /// for try await page in all.pages.values {                    // the pages
    ///     if page.progress.fraction == 1 { print("nothing has moved:", page.progress.driftCount == 0) }     // nothing has moved: true
    /// }
    /// ```
    ///
    /// As a publisher it publishes every record, as far as the subscriber asks, then finishes. Nothing is sent before demand;
    /// each subscription reads all records anew. A page is one call to the server; when less than half of its records are
    /// left, the next one is asked for, so that never more than two pages are in memory. A session is held only while a page
    /// is on its way: a subscriber that asks for nothing for an hour keeps nothing from others. Cancelling ends what is on
    /// its way.
    ///
    /// The first page has 100 records. Then pages grow as long as they take less than a quarter of a second, and shrink when
    /// they take more than half a second or more than a mebibyte, between 10 and 5,000; the size is kept for the layout. A
    /// page that runs into a time limit is asked for again with half as many records, down to 10. Every page is a call of
    /// its own, with time limits of its own.
    ///
    /// When no record is found it finishes without one. How it deals with changes that others make meanwhile is said in
    /// ``Paging``. A failure does not take back what was published; records of pages that came before it are published first.
    /// It fails as ``Layout/findRecords(query:isolation:)`` does, and with ``FMRest/APIError/Code/pagesDrifted`` when records
    /// have moved so far that there would be a gap.
    ///
    /// Source: Claris Data API guide, "Get a range of records", "Perform a find request".
    public struct RecordPages<R: RecordFields>: Publisher, Sendable {
        /// The next record.
        public typealias Output = TypedLayout<R>.Record
        /// Why there are no more.
        public typealias Failure = FMRest.APIError

        let found: FoundSet<R>
        let mode: Paging<R>
        let pageSize: Int?
        /// Where what it brings is handed over.
        let isolation: (any Actor)?
        var observer: (@Sendable (PagingProgress) -> Void)?

        private var database: Database { found.layout.layout.database }

        /// Attaches the subscriber. Nothing is asked for before it asks.
        public func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
            arrivingPages.items(for: isolation, by: database).receive(subscriber: subscriber)
        }

        /// The pages, each when it is asked for: its records, and how far it has come with them.
        ///
        /// Publishes one page for each that the server is asked for and that brings something, as far as the subscriber
        /// asks, then finishes. When there is no record it publishes one page without any. A last page without records tells
        /// what has moved at the end. No page is read ahead. Nothing is sent before demand; cancelling ends the call that is
        /// on its way.
        public var pages: AnyPublisher<RecordPage<R>, FMRest.APIError> {
            arrivingPages.map { RecordPage(records: $0.items, progress: $0.progress) }
                .handedOver(to: isolation, by: database)
        }

        /// The same, which says how far it has come.
        ///
        ///     people.all().reportingProgress { print("\($0.delivered) of \($0.total ?? 0)") }
        ///
        /// - Parameter observer: is told with each page when it has arrived, before its first record is published. Since the next
        ///   page is read ahead, it may be a page ahead of the records. It is called on the thread that brought the page, and
        ///   the page waits for it.
        public func reportingProgress(
            to observer: @escaping @Sendable (PagingProgress) -> Void
        ) -> RecordPages<R> {
            var pages = self
            pages.observer = observer
            return pages
        }

        private var arrivingPages: AnyPublisher<ItemPage<Output>, FMRest.APIError> {
            found.pages(mode, pageSize: pageSize).reporting(to: observer)
        }
    }

    /// Some of the records of a found set: those of a page that were not published before.
    public struct RecordPage<R: RecordFields>: Sendable {
        /// The records.
        public var records: [TypedLayout<R>.Record]
        /// How far it is with them.
        public var progress: PagingProgress

        /// A value of your own making, for tests and doubles.
        public init(records: [TypedLayout<R>.Record], progress: PagingProgress) {
            self.records = records
            self.progress = progress
        }
    }
}

extension DataAPI.RecordPage: Equatable where R: Equatable, R.Portals: Equatable {}

extension Publisher where Failure == FMRest.APIError {
    /// What is on the pages, one by one, for whoever asked for it.
    func items<Item>(
        for isolation: (any Actor)?,
        by database: DataAPI.Database
    ) -> TenuredValues<JoinPublisher<Self, PageItemsMachine<Item>>> where Output == ItemPage<Item> {
        JoinPublisher(
            upstreams: [self],
            machine: PageItemsMachine(),
            actor: isolation.map { ActorTurn(actor: $0, watch: database.server.blockedActorWatch) }
        )
        .read(in: { database.tenure })
    }

    func reporting<Item>(
        to observer: (@Sendable (DataAPI.PagingProgress) -> Void)?
    ) -> AnyPublisher<Output, Failure> where Output == ItemPage<Item> {
        guard let observer else { return eraseToAnyPublisher() }
        return handleEvents(receiveOutput: { observer($0.progress) }).eraseToAnyPublisher()
    }
}
