import FMDataCore
import FMDataRecords
import Foundation
import OpenCombine

/// A page of an answer: for each record the decoded record, or why it could not be decoded.
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
    /// All records, page by page on demand.
    func attemptPages() -> AnyPublisher<AttemptPage<R>, FMRest.APIError> {
        layout.layout.database.asOneAccount { accountPeriod in
            let found = bound(to: accountPeriod)
            return PagesPublisher<AttemptPage<R>.Attempt>(
                strategy: OffsetPaging(),
                sizes: layout.layout.database.pageSize(of: subject(of: .offset), in: accountPeriod),
                isPoll: true,
                fetch: { question in
                    guard case .records(let offset) = question.selection else {
                        preconditionFailure("Paging by places asks for records")
                    }
                    return found.fetch(AttemptPage<R>.Attempt.self, offset: offset, limit: question.limit)
                },
                log: { layout.layout.logDrift($0) },
                error: { FMRest.APIError($0, "", of: layout.layout) }
            )
            .map { page in
                AttemptPage(
                    attempts: page.items,
                    foundCount: page.progress.total,
                    tableCount: page.progress.tableCount,
                    date: page.date,
                    isInMotion: !page.progress.drift.isEmpty
                )
            }
            .eraseToAnyPublisher()
        }
    }

    /// Some of the records, in one call; empty when FileMaker answers that there are none.
    func attempts(offset: Int = 1, limit: Int) -> AnyPublisher<AttemptPage<R>, FMRest.APIError> {
        fetch(AttemptPage<R>.Attempt.self, offset: offset, limit: limit)
            .map { page in
                AttemptPage(
                    attempts: page.items,
                    foundCount: page.answer.foundCount,
                    tableCount: page.answer.tableCount,
                    date: page.date
                )
            }
            .eraseToAnyPublisher()
    }
}

extension DataAPI.Layout {
    /// One record; an empty page when the host has no such record.
    func attempt<R: RecordFields>(
        _ id: Int,
        as type: R.Type,
        _ query: DataAPI.RecordQuery
    ) -> AnyPublisher<AttemptPage<R>, FMRest.APIError> {
        database.fetch(AttemptPage<R>.Attempt.self) { try .record(id, of: self, query: query) }
            .map { answer in
                AttemptPage<R>(
                    attempts: answer.records,
                    tableCount: answer.dataInfo.isReported ? answer.dataInfo.totalRecordCount : nil,
                    date: answer.date
                )
            }
            .replaceError(of: .recordMissing, with: AttemptPage<R>())
    }
}
