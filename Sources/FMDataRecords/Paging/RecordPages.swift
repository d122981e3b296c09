public import FMDataCore
public import OpenCombine

extension DataAPI {
    /// All records of a found set, to be read page after page: a publisher of the records or of the pages.
    ///
    /// ```swift
    /// let all = countries.all()                                   // the records, one by one
    /// let loud = all.reportingProgress { progress in              // the same, and how far it has come
    ///     print("\(progress.delivered) of \(progress.total ?? 0)")        // 249 of 249
    /// }
    /// print(try await loud.collect().firstValue().count)          // 249
    ///
    /// for try await page in all.pages.values {                    // the pages
    ///     if page.progress.fraction == 1 {
    ///         print("nothing has moved:", page.progress.driftCount == 0)     // nothing has moved: true
    ///     }
    /// }
    /// ```
    ///
    /// As a publisher it publishes every record. Each subscription reads all records again. A page is one request; when
    /// less than half of its records are left, the next page is requested, so that never more than two pages are in
    /// memory. A session is held only while a page is requested: a subscriber that asks for nothing for an hour blocks
    /// no other call.
    ///
    /// The first page has 100 records. Then pages grow, up to eightfold at once, as long as they take less than a
    /// quarter of a second, and shrink when they take more than half a second or more than a mebibyte, between 10 and
    /// 5,000 records; the size is remembered for the layout. A page that runs into a time limit is requested again with
    /// half as many records, down to 10. Every page is a call of its own, with time limits of its own.
    ///
    /// When no record is found, it finishes without one. ``Paging`` documents how changes by others during the reading
    /// are handled. A failure does not take back published records; records of pages that came before the failure are
    /// published first. It fails as ``Layout/findRecords(query:isolation:)`` does, and with
    /// ``FMRest/APIError/Code/pagesDrifted`` when records have moved so far that there would be a gap.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    ///
    /// Source: Claris Data API guide, "Get a range of records", "Perform a find request".
    public struct RecordPages<R: RecordFields>: Publisher, Sendable {
        /// The next record.
        public typealias Output = TypedLayout<R>.Record
        /// The error that ends the publisher.
        public typealias Failure = FMRest.APIError

        let found: FoundSet<R>
        let mode: Paging<R>
        let pageSize: Int?
        /// The actor that receives the records.
        let isolation: (any Actor)?
        var observer: (@Sendable (PagingProgress) -> Void)?

        private var database: Database { found.layout.layout.database }

        /// Attaches the subscriber. Nothing is requested before it asks.
        public func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
            arrivingPages.items(for: isolation, by: database).receive(subscriber: subscriber)
        }

        /// The pages, each requested when the subscriber asks for it: its records and the progress.
        ///
        /// Publishes one page for each request that brings something. When there is no record, it publishes one page
        /// without records. A last page without records reports drift at the end. No page is read ahead.
        ///
        /// - Note: Many values, as they are asked for. See <doc:Calls>.
        public var pages: AnyPublisher<RecordPage<R>, FMRest.APIError> {
            arrivingPages.map { RecordPage(records: $0.items, progress: $0.progress) }
                .delivered(on: isolation, by: database)
        }

        /// The same records, with a function that is called with the progress of each page.
        ///
        ///     people.all().reportingProgress { print("\($0.delivered) of \($0.total ?? 0)") }
        ///
        /// - Parameter observer: is called with the progress of each page when the page has arrived, before its first
        ///   record is published. The next page is read ahead, so the progress may be a page ahead of the records. It
        ///   is called on the thread that received the page, and the page waits for it.
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

    /// Some of the records of a found set: the records of a page that were not published before.
    public struct RecordPage<R: RecordFields>: Sendable {
        /// The records of the page.
        public var records: [TypedLayout<R>.Record]
        /// The progress with these records.
        public var progress: PagingProgress

        /// Creates a value, for tests and doubles.
        public init(records: [TypedLayout<R>.Record], progress: PagingProgress) {
            self.records = records
            self.progress = progress
        }
    }
}

extension DataAPI.RecordPage: Equatable where R: Equatable, R.Portals: Equatable {}

extension Publisher where Failure == FMRest.APIError {
    /// The items of the pages, one by one, delivered as those of other calls.
    func items<Item>(
        for isolation: (any Actor)?,
        by database: DataAPI.Database
    ) -> PlacedPublisher<AccountPeriodValues<ThroughMachine<Self, PageItemsMachine<Item>>>>
    where Output == ItemPage<Item> {
        PlacedPublisher(isolation: isolation, server: database.server) { turn in
            ThroughMachine(upstream: self, machine: PageItemsMachine(), actor: turn).read(in: { database.accountPeriod }
            )
        }
    }

    func reporting<Item>(
        to observer: (@Sendable (DataAPI.PagingProgress) -> Void)?
    ) -> AnyPublisher<Output, Failure> where Output == ItemPage<Item> {
        guard let observer else { return eraseToAnyPublisher() }
        return handleEvents(receiveOutput: { observer($0.progress) }).eraseToAnyPublisher()
    }
}

/// Turns pages into their items, one by one. The next page is requested when less than half of the current page is
/// left: at most two pages are in memory, and the subscriber waits for neither.
struct PageItemsMachine<Item>: InletMachine {
    typealias Input = ItemPage<Item>
    typealias Output = Item
    typealias Failure = FMRest.APIError
    typealias Action = SubscriptionAction<Item, FMRest.APIError, Never>

    private var demand = Subscribers.Demand.none
    private var hasBegun = false
    private var page: [Item] = []
    /// The number of the page's items that were delivered.
    private var position = 0
    private var nextPage: [Item]?
    private var isAskedFor = false
    private var ending: Subscribers.Completion<FMRest.APIError>?
    private var isOver = false

    mutating func requested(_ demand: Subscribers.Demand) {
        hasBegun = true
        self.demand += demand
    }

    mutating func received(_ page: ItemPage<Item>) {
        isAskedFor = false
        nextPage = page.items
        turnPage()
    }

    mutating func finished(_ completion: Subscribers.Completion<FMRest.APIError>) {
        ending = completion
    }

    mutating func next() -> Action? {
        if isOver { return nil }
        let left = page.count - position
        if hasBegun, !isAskedFor, ending == nil, nextPage == nil, left == 0 || left * 2 < page.count {
            isAskedFor = true
            return .ask(1)
        }
        if left > 0 {
            guard demand > .none else { return nil }
            demand -= 1
            let item = page[position]
            position += 1
            turnPage()
            return .value(item)
        }
        guard let ending else { return nil }
        isOver = true
        return .end(ending)
    }

    private mutating func turnPage() {
        guard position == page.count, let next = nextPage else { return }
        page = next
        position = 0
        nextPage = nil
    }
}
