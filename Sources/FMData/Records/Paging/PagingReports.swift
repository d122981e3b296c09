import Logging

extension DataAPI.Layout {
    /// Logs the drift, for subscribers that receive records only and see no pages.
    func logDrift(_ drift: [DataAPI.PageDrift]) {
        let context = database.calls.options
        guard let logger = context.logger ?? database.server.config.logger else { return }
        for drift in drift {
            var metadata: Logger.Metadata = [
                "database": "\(database.name)", "layout": "\(name)", "drift": "\(drift.kind)",
                "places": "\(drift.places)", "records": "\(drift.recordIds.count)",
            ]
            metadata["tag"] = context.tag.map { "\($0)" }
            logger.warning("records moved between pages", metadata: metadata)
        }
    }
}

extension FMRest.APIError {
    static func noKey(_ key: String, on layout: String) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason: "Layout \"\(layout)\" does not show the field \"\(key)\", by which pages are to be read."
        )
    }

    /// The error for a failure to read a layout's pages.
    init(_ failure: PagingFailure, _ key: String, of layout: DataAPI.Layout) {
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
