package import FMDataCore
import FMHTTP
import Logging
import OpenCombine

extension DataAPI.Layout {
    /// Logs the drift, for subscribers that receive records only and see no pages.
    package func logDrift(_ drift: [DataAPI.PageDrift]) {
        guard let logger = log(.warning) else { return }
        for drift in drift {
            logger.warning(
                "records moved between pages",
                metadata: [
                    LogKey.drift: "\(drift.kind)", LogKey.places: "\(drift.places)",
                    LogKey.records: "\(drift.recordIds.count)",
                ]
            )
        }
    }

    /// Logs a page that is published.
    fileprivate func logPage(of rows: Int, _ progress: DataAPI.PagingProgress) {
        guard let logger = log(.debug) else { return }
        var metadata: Logger.Metadata = [LogKey.rows: "\(rows)", LogKey.delivered: "\(progress.delivered)"]
        metadata[LogKey.total] = progress.total.map { "\($0)" }
        logger.debug("page read", metadata: metadata)
    }
}

extension Publisher {
    /// The same pages, each with a line in the log.
    func logged<Item>(by layout: DataAPI.Layout) -> some Publisher<ItemPage<Item>, Failure>
    where Output == ItemPage<Item> {
        handleEvents(receiveOutput: { page in layout.logPage(of: page.items.count, page.progress) })
    }
}

extension FMRest.APIError {
    package static func noKey(_ key: String, on layout: String) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason: "Layout \"\(layout)\" does not show the field \"\(key)\", by which pages are to be read."
        )
    }

    /// The error for a failure to read a layout's pages.
    package init(_ failure: PagingFailure, _ key: String, of layout: DataAPI.Layout) {
        switch failure {
        case .placeLost:
            self.init(
                .pagesDrifted,
                reason: "The records of layout \"\(layout.name)\" have moved so far since the last page that none "
                    + "of those that came last is found again; there would be a gap.",
                hint: "Page by a number that does not change: .stable(by:) or .windows(serial:)."
            )
        case .keyNotUnique:
            self.init(
                .invalidRequest,
                reason: "More records than fit on a page have the same value in \"\(key)\", by which pages are read.",
                hint: "The key has to be unique; .offset needs none."
            )
        case .serialNotWhole:
            self.init(
                .invalidRequest,
                reason: "The least or the greatest value in \"\(key)\" is no whole number of a number field.",
                hint: ".stable(by:) and .ids(by:) take any key."
            )
        case .keyMissing:
            self.init(
                .invalidRequest,
                reason: "A record that was found by \"\(key)\" came without a value for it.",
                hint: "Its type has to hold the field as it is."
            )
        }
    }
}
