public import FMDataCore
public import OpenCombine

extension DataAPI.TypedLayout {
    /// All rows of one portal of a record, page after page, including those beyond the 50 that come with the record.
    ///
    ///     orders.rows(\.lines, of: order.recordId, portal: "Lines")
    ///
    /// ``DataAPI/Record/truncatedPortals`` names the portals that have more rows than came. Publishes each row, in the
    /// order of the portal. Each subscription reads all rows again.
    ///
    /// Pages go by place and overlap by one row, as with ``DataAPI/Paging/offset``: if rows are inserted or deleted
    /// meanwhile, the publisher goes back to a known row, and reports it in the log and to `progress`. Fails with
    /// FileMaker code 101 if there is no such record, also if it is deleted between two pages, and with 102 if there is
    /// no such portal.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    /// - Parameters:
    ///   - rows: the property of the portal's rows; it gives the type of a row.
    ///   - recordId: the id of the record that has the portal.
    ///   - name: the portal's object name on the layout, if it has one, else the name of its table occurrence.
    ///   - pageSize: the rows of each page. With `nil`, the default, the size is ``DataAPI/Config/pageSize``, or
    ///     follows the time that pages take.
    ///   - progress: is called with the progress of each page when it has arrived, on the thread that received it.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a single record", parameters `portal`, `_offset.…` and `_limit.…`.
    public func rows<Row: DataAPIPortalRecord>(
        _ rows: KeyPath<R.Portals, [Row]>,
        of recordId: some DataAPI.RecordIdentifier,
        portal name: String,
        pageSize: Int? = nil,
        progress: (@Sendable (DataAPI.PagingProgress) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Row, FMRest.APIError> {
        let recordId = LenientInt(id: recordId)
        let pages: AnyPublisher<ItemPage<Row>, FMRest.APIError> = pages(of: recordId, name, pageSize)
        return AnyPublisher(pages.reporting(to: progress).items(for: isolation, by: layout.database))
    }

    /// All rows of one portal of a record; a coding key names the portal.
    ///
    ///     orders.rows(\.lines, of: order.recordId, portal: Order.Portals.CodingKeys.lines)
    ///
    /// Otherwise the same as with the portal's name.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    public func rows<Row: DataAPIPortalRecord>(
        _ rows: KeyPath<R.Portals, [Row]>,
        of recordId: some DataAPI.RecordIdentifier,
        portal: some CodingKey,
        pageSize: Int? = nil,
        progress: (@Sendable (DataAPI.PagingProgress) -> Void)? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Row, FMRest.APIError> {
        self.rows(
            rows,
            of: recordId,
            portal: portal.stringValue,
            pageSize: pageSize,
            progress: progress,
            isolation: isolation
        )
    }

    private func pages<Row: DataAPIPortalRecord>(
        of recordId: LenientInt,
        _ portal: String,
        _ pageSize: Int?
    ) -> AnyPublisher<ItemPage<Row>, FMRest.APIError> {
        if let pageSize, pageSize < 1 {
            return Fail(error: FMRest.APIError(.invalidRequest, reason: "A page of \(pageSize) rows is none."))
                .eraseToAnyPublisher()
        }
        return layout.database.asOneAccount { accountPeriod in
            let layout = layout.bound(to: accountPeriod)
            return PagesPublisher<Row>(
                strategy: OffsetPaging(),
                sizes: layout.database.pageSize(of: "rows \(layout.name)\n\(portal)", in: accountPeriod, pageSize),
                fetch: { layout.rows(of: recordId, portal, $0) },
                log: { layout.logDrift($0) },
                error: { FMRest.APIError($0, portal, of: layout) }
            )
            .logged(by: layout)
            .eraseToAnyPublisher()
        }
    }
}

extension DataAPI.Layout {
    /// Reads the rows of one page of a portal. Nothing is read of the record's fields and other portals.
    fileprivate func rows<Row: DataAPIPortalRecord>(
        of recordId: LenientInt,
        _ portal: String,
        _ question: PageQuestion
    ) -> AnyPublisher<FetchedPage<Row>, FMRest.APIError> {
        guard case .records(let offset) = question.selection else { return Empty().eraseToAnyPublisher() }
        let part = DataAPI.PortalRequest(name: portal, limit: question.limit, offset: offset)
        return database.fetch(DataAPI.Record<NoFields, [String: [Row]]>.self) {
            try .record(recordId.recordId(), of: self, query: DataAPI.RecordQuery(portal: [part]))
        }
        .tryMap { measured in
            let record = measured.records.first
            // Only one portal was requested, whatever name the server gives it.
            let rows = record?.portalData?.values.first ?? []
            let answer = PageAnswer(
                ids: try rows.map { row in
                    guard let id = Row.RecordID.recordNumber(row.recordId) else {
                        throw FMRest.APIError(
                            .decoding,
                            reason: "A row of portal \"\(portal)\" came without an id, by which pages are put together."
                        )
                    }
                    return id
                },
                foundCount: record?.portalDataInfo?.first?.foundCount
            )
            return FetchedPage(items: rows, answer: answer, bytes: measured.bytes, took: measured.took)
        }
        .mapError { FMRest.APIError(wrapping: $0) }
        .eraseToAnyPublisher()
    }
}
