import Foundation
import OpenCombine

/// A page of an answer with its records, as far as they can be decoded.
struct AttemptPage<R: RecordFields> {
    typealias Attempt = RecordAttempt<R, R.Portals>

    var attempts: [Attempt] = []
    var foundCount: Int?
    var tableCount: Int?
    /// When the host answered, by its own clock.
    var date: Date?
    /// Whether records have moved since the page before.
    var isInMotion = false
}

extension DataAPI.FoundSet {
    /// All records, page after page, each when it is asked for.
    func attemptPages() -> AnyPublisher<AttemptPage<R>, FMRest.APIError> {
        layout.layout.database.asOneAccount { tenure in
            let found = bound(to: tenure)
            let last = LastAnswer()
            return PagesPublisher<RecordAttempt<R, R.Portals>>(
                strategy: OffsetPaging(),
                sizes: tenure.pageSizes.memory(of: subject(of: .offset), fixed: nil),
                isPoll: true,
                fetch: { question in
                    guard case .records(let offset) = question.part else {
                        preconditionFailure("Paging by places asks for records")
                    }
                    return found.fetchAttempts(offset: offset, limit: question.limit, last)
                },
                log: { layout.layout.logDrift($0) },
                error: { FMRest.APIError($0, "", of: layout.layout) }
            )
            .map { page in
                AttemptPage(
                    attempts: page.items,
                    foundCount: page.progress.total,
                    tableCount: page.progress.tableCount,
                    date: last.date,
                    isInMotion: !page.progress.drift.isEmpty
                )
            }
            .eraseToAnyPublisher()
        }
    }

    /// A part of the records, in one call; none where FileMaker says that there are none.
    func attempts(offset: Int = 1, limit: Int) -> AnyPublisher<AttemptPage<R>, FMRest.APIError> {
        let last = LastAnswer()
        return fetchAttempts(offset: offset, limit: limit, last)
            .map { page in
                AttemptPage(
                    attempts: page.items,
                    foundCount: page.answer.foundCount,
                    tableCount: page.answer.tableCount,
                    date: last.date
                )
            }
            .eraseToAnyPublisher()
    }

    private func fetchAttempts(
        offset: Int,
        limit: Int,
        _ last: LastAnswer
    ) -> AnyPublisher<FetchedPage<RecordAttempt<R, R.Portals>>, FMRest.APIError> {
        let layout = layout.layout
        let nothing = FetchedPage<RecordAttempt<R, R.Portals>>(answer: PageAnswer(foundCount: 0))
        let makeRequest: () throws -> DataAPIRequest<DataAPI.RecordResponse<R, R.Portals>>
        switch request(offset: offset, limit: limit) {
        case .range(let query):
            makeRequest = { try .records(of: layout, query: query) }
        case .find(let query):
            // Of a find that contradicts itself the server need not be asked.
            if case .success? = query.plan {
                return Just(nothing).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            }
            makeRequest = { try .find(in: layout, query: query) }
        }
        return layout.database.fetchAttempts(makeRequest)
            .map { answer, took in
                let info = answer.dataInfo
                last.date = answer.date
                return FetchedPage(
                    items: answer.records,
                    answer: PageAnswer(
                        ids: answer.records.map(\.version.recordId),
                        foundCount: info.isReported ? info.foundCount : nil,
                        tableCount: info.isReported ? info.totalRecordCount : nil
                    ),
                    bytes: answer.bytes,
                    took: took
                )
            }
            .replaceError(of: .noRecordsMatch, .recordMissing, with: nothing)
    }
}

/// When the last answer was made. A page is published before the next one is asked for.
private final class LastAnswer: @unchecked Sendable {
    // @unchecked: one call comes after the other, and what one has left is read before the next one begins.
    var date: Date?
}

extension DataAPI.Layout {
    /// One record; none where there is no such record.
    func attempt<R: RecordFields>(
        _ id: Int,
        as type: R.Type,
        _ query: DataAPI.RecordQuery
    ) -> AnyPublisher<AttemptPage<R>, FMRest.APIError> {
        database.fetchAttempts { try .record(id, of: self, query: query) }
            .map { answer, _ in
                AttemptPage<R>(
                    attempts: answer.records,
                    tableCount: answer.dataInfo.isReported ? answer.dataInfo.totalRecordCount : nil,
                    date: answer.date
                )
            }
            .replaceError(of: .recordMissing, with: AttemptPage<R>())
    }
}
