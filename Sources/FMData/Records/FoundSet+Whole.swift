import NIOConcurrencyHelpers
import OpenCombine

extension DataAPI.FoundSet {
    /// All records of a found set, and whether they are sure to be all.
    struct Whole: Sendable {
        var records: [DataAPI.TypedLayout<R>.Record] = []
        /// Whether the set changed from one answer to the next.
        var hasDrifted = false

        fileprivate var ids: Set<Int> = []
        fileprivate var count: Int?

        /// Where records went, later ones move up and one is passed over; where some came, one is seen twice. Equal counts prove
        /// nothing, but there is nothing better to go by.
        fileprivate mutating func add(_ page: DataAPI.RecordResponse<R, R.Portals>) {
            for record in page.data {
                if ids.insert(record.recordId).inserted { records.append(record) } else { hasDrifted = true }
            }
            guard page.dataInfo.isReported else { return }
            if let count, count != page.dataInfo.foundCount { hasDrifted = true }
            count = page.dataInfo.foundCount
        }
    }

    /// All records in memory: in one answer where they are not many, else in several, one after the other.
    ///
    /// Publishes one value, then finishes.
    func whole(pageSize: Int = 5_000) -> AnyPublisher<Whole, FMRest.APIError> {
        pages(of: pageSize)
            .reduce(Whole()) { whole, page in
                var whole = whole
                whole.add(page)
                return whole
            }
            .eraseToAnyPublisher()
    }

    /// The records in pages, each asked for when it is wanted: a range by offsets, which tells nobody when the set changes
    /// meanwhile.
    func pages(of size: Int) -> AnyPublisher<DataAPI.RecordResponse<R, R.Portals>, FMRest.APIError> {
        OnDemandPublisher {
            let hasEnded = NIOLockedValueBox(false)
            return sequence(first: 1) { $0 + size }.publisher
                // The operators of a sequence's own publisher go through all of it at once.
                .eraseToAnyPublisher()
                .prefix { _ in !hasEnded.withLockedValue(\.self) }
                .setFailureType(to: FMRest.APIError.self)
                .orderedMap(concurrency: 1) { offset in
                    page(offset: offset, limit: size)
                        .map { page in
                            if page.isLast(from: offset, of: size) { hasEnded.withLockedValue { $0 = true } }
                            return [page]
                        }
                        .eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
}

extension DataAPI.RecordResponse {
    fileprivate func isLast(from offset: Int, of size: Int) -> Bool {
        data.count < size || dataInfo.isReported && offset - 1 + data.count >= dataInfo.foundCount
    }
}
