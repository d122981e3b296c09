package import FMDataCore
import NIOCore
package import OpenCombine

extension DataAPI.FoundSet {
    fileprivate typealias Record = DataAPI.TypedLayout<R>.Record

    /// The pages of the records; see ``DataAPI/Paging``.
    func pages(
        _ mode: DataAPI.Paging<R>,
        pageSize: Int?
    ) -> AnyPublisher<ItemPage<DataAPI.TypedLayout<R>.Record>, FMRest.APIError> {
        if let refusal = refusal(of: mode, pageSize) { return Fail(error: refusal).eraseToAnyPublisher() }
        return layout.layout.database.asOneAccount { accountPeriod in
            let found = bound(to: accountPeriod)
            return PagesPublisher<Record>(
                strategy: mode.strategy,
                sizes: layout.layout.database.pageSize(of: subject(of: mode), in: accountPeriod, pageSize),
                isPoll: layout.layout.database.calls.options.pollMeter != nil,
                fetch: { found.answer(to: $0, mode) },
                log: { found.layout.layout.logDrift($0) },
                error: { FMRest.APIError($0, mode.key, of: layout.layout) }
            )
            .logged(by: found.layout.layout)
            .eraseToAnyPublisher()
        }
    }

    private func refusal(of mode: DataAPI.Paging<R>, _ pageSize: Int?) -> FMRest.APIError? {
        if let pageSize, pageSize < 1 {
            return FMRest.APIError(.invalidRequest, reason: "A page of \(pageSize) records is none.")
        }
        guard mode.ordersByKey, !sort.isEmpty else { return nil }
        return FMRest.APIError(
            .invalidRequest,
            reason: "The records are to be sorted by \(sort.map(\.fieldName)), and read in the order of their key.",
            hint: "Leave out the sort order, or page by .offset or .ids(by:)."
        )
    }

    /// The key under which the page size is remembered. It names the layouts, as fields and portals determine how long
    /// a page takes.
    package func subject(of mode: DataAPI.Paging<R>) -> String {
        let kind =
            if case .ids(_, let skinny) = mode.kind { "ids of \(skinny ?? "")" } else { "records" }
        return "\(kind) \(layout.layout.name)\n\(options.layoutResponse ?? "")"
    }

    // MARK: Answers

    /// One call to the server.
    private func answer(
        to question: PageQuestion,
        _ mode: DataAPI.Paging<R>
    ) -> AnyPublisher<FetchedPage<Record>, FMRest.APIError> {
        let key = mode.key
        switch question.selection {
        case .records(let offset):
            return fetch(offset: offset, limit: question.limit)
        case .sorted(let from, let through):
            let sort = [DataAPI.SortQuery(fieldName: key, sortOrder: .ascending)]
            return narrowed(to: DataAPI.FindField(named: key).lies(from, through)).sorted(by: sort)
                .fetch(limit: question.limit) { records in
                    [try records.last.flatMap { try layout.layout.key(key, of: $0.fieldData) }]
                }
        case .byKey(let offset):
            let sort = [DataAPI.SortQuery(fieldName: key, sortOrder: .ascending)]
            return narrowed(to: DataAPI.FindField(named: key).isNotEmpty).sorted(by: sort)
                .fetch(offset: offset, limit: question.limit)
        case .window(let window):
            return narrowed(to: DataAPI.FindField(named: key).isIn(window)).fetch(limit: question.limit)
        case .having(let keys):
            // Only the keys are the condition: records that no longer match the find are read as well.
            return others(DataAPI.FindField(named: key).isOneOf(keys.map(\.criterion)))
                .fetch(limit: PageSize.range.upperBound)
        case .keys(let offset):
            return keys(on: mode.skinny).sorted(by: sort).keys(key, offset: offset, limit: question.limit)
        case .count:
            return unsorted.of(NoFields.self).fetch(limit: 1).map { $0.withoutItems() }.eraseToAnyPublisher()
        case .least:
            return end(by: key, .ascending)
        case .greatest:
            return end(by: key, .descending)
        }
    }

    /// Reads the record with the least or the greatest key, of the records that have one.
    private func end(
        by key: String,
        _ order: DataAPI.SortQuery.Order
    ) -> AnyPublisher<FetchedPage<Record>, FMRest.APIError> {
        keys(on: nil).narrowed(to: DataAPI.FindField(named: key).isNotEmpty)
            .sorted(by: [DataAPI.SortQuery(fieldName: key, sortOrder: order)])
            .keys(key, offset: 1, limit: 1)
    }

    /// The same records with all fields of the layout, without portals, unsorted.
    private func keys(on layout: String?) -> DataAPI.FoundSet<FieldData> {
        let found = DataAPI.FoundSet<FieldData>(layout: self.layout.layout.of(FieldData.self), find: find)
        return layout.map { found.responseLayout($0) } ?? found
    }

    /// Reads the ids and keys of these records.
    fileprivate func keys<Item>(
        _ key: String,
        offset: Int,
        limit: Int
    ) -> AnyPublisher<FetchedPage<Item>, FMRest.APIError> where R == FieldData {
        fetch(offset: offset, limit: limit) { records in
            try records.map { record in
                guard let value = record.fieldData[key] else {
                    throw FMRest.APIError.noKey(key, on: options.layoutResponse ?? layout.layout.name)
                }
                return PageKey(value)
            }
        }
        .map { $0.withoutItems() }
        .eraseToAnyPublisher()
    }

    /// Sends one request for records. Fails if one of them cannot be decoded.
    fileprivate func fetch(
        offset: Int = 1,
        limit: Int,
        keys: @escaping ([Record]) throws -> [PageKey?] = { _ in [] }
    ) -> AnyPublisher<FetchedPage<Record>, FMRest.APIError> {
        fetch(Record.self, offset: offset, limit: limit, keys: keys)
    }

    /// Sends one request for records. If FileMaker answers that there are none, 401 for a find or 101 for a range, it
    /// publishes an empty answer.
    ///
    /// - Parameters:
    ///   - item: the type the records are read as.
    ///   - keys: makes the ``PageAnswer/keys`` of the records.
    package func fetch<Item: AnswerRecord>(
        _ item: Item.Type,
        offset: Int,
        limit: Int,
        keys: @escaping ([Item]) throws -> [PageKey?] = { _ in [] }
    ) -> AnyPublisher<FetchedPage<Item>, FMRest.APIError> where Item.Fields == R, Item.Portals == R.Portals {
        let layout = layout.layout
        let nothing = FetchedPage<Item>(answer: PageAnswer(foundCount: 0))
        let makeRequest: () throws -> DataAPIRequest<DataAPI.RecordResponse<R, R.Portals>>
        switch request(offset: offset, limit: limit) {
        case .range(let query):
            makeRequest = { try .records(of: layout, query: query) }
        case .find(let query):
            makeRequest = { try .find(in: layout, query: query) }
        }
        return layout.database.fetch(item, makeRequest)
            .tryMap { measured in
                let items = measured.records
                let info = measured.dataInfo
                let answer = PageAnswer(
                    ids: items.map(\.recordId),
                    keys: try keys(items),
                    foundCount: info.isReported ? info.foundCount : nil,
                    tableCount: info.isReported ? info.totalRecordCount : nil
                )
                return FetchedPage(
                    items: items,
                    answer: answer,
                    bytes: measured.bytes,
                    took: measured.took,
                    date: measured.date
                )
            }
            .mapError { FMRest.APIError(wrapping: $0) }
            .replaceError(of: .noRecordsMatch, .recordMissing, with: nothing)
    }
}

extension DataAPI.Database {
    /// Sends a request for records, which are read as `item`.
    package func fetch<Item: AnswerRecord>(
        _ item: Item.Type,
        _ makeRequest: @escaping () throws -> DataAPIRequest<DataAPI.RecordResponse<Item.Fields, Item.Portals>>
    ) -> AnyPublisher<MeasuredRecords<Item>, FMRest.APIError> {
        perform({ try makeRequest().measured(as: item) }, rowCount: { $0.records.count }) { request, token in
            let now = self.server.time.now
            let begun = now()
            return self.server.exchange(request, token: token)
                .map { measured in
                    var measured = measured
                    measured.took = now() - begun
                    return measured
                }
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
}

extension FetchedPage {
    /// The page without its items, for requests that only need keys or a count.
    fileprivate func withoutItems<Other>() -> FetchedPage<Other> {
        FetchedPage<Other>(answer: answer, bytes: bytes, took: took, date: date)
    }
}

extension DataAPI.Paging {
    fileprivate var strategy: any PagingStrategy {
        switch kind {
        case .offset: OffsetPaging()
        case .stable: StablePaging()
        case .windows: WindowPaging()
        case .ids: IDPaging()
        }
    }

    /// The name of the key field; empty if the mode has no key.
    fileprivate var key: String {
        switch kind {
        case .offset: ""
        case .stable(let key), .windows(let key), .ids(let key, _): key
        }
    }

    fileprivate var skinny: String? { if case .ids(_, let skinny) = kind { skinny } else { nil } }

    fileprivate var ordersByKey: Bool {
        switch kind {
        case .stable, .windows: true
        case .offset, .ids: false
        }
    }
}
