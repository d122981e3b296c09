import FMData
import OpenCombine

/// The records of a find, or all of a layout.
struct FoundRecords: Sendable {
    let layout: DataAPI.Layout
    /// nil for all records of the layout.
    let find: DataAPI.Find?
    let order: [DataAPI.SortQuery]
    let portals: [DataAPI.PortalRequest]

    private let summary = LockedValue<DataAPI.DataInfo?>(nil)
    private let progress = LockedValue<DataAPI.PagingProgress?>(nil)

    init(
        layout: DataAPI.Layout,
        find: DataAPI.Find?,
        order: [DataAPI.SortQuery],
        portals: [DataAPI.PortalRequest]
    ) {
        self.layout = layout
        self.find = find
        self.order = order
        self.portals = portals
    }

    /// All records, page after page, as they are asked for.
    func allRecords() -> AnyPublisher<AnyFields.Record, FMRest.APIError> {
        let typed = layout.of(AnyFields.self)
        let found = find.map(typed.find) ?? typed.allRecords
        return found.sorted(by: order).portals(portals).all()
            .reportingProgress { [progress] page in
                progress.value = page
                ProgressLine.shared.report(page.delivered, of: page.total, "records")
            }
            .eraseToAnyPublisher()
    }

    /// The records of one answer, as they arrive.
    ///
    /// - Parameters:
    ///   - offset: The first record, counted from 1.
    ///   - limit: The most records; nil is the host's own limit.
    func records(offset: Int?, limit: Int?) -> AnyPublisher<AnyFields.Record, FMRest.APIError> {
        let options = DataAPI.ReadOptions(
            portal: portals,
            offset: offset,
            limit: limit,
            sortOrder: order.isEmpty ? nil : order
        )
        let report: @Sendable (DataAPI.RecordsSummary) -> Void = { [summary] in summary.value = $0.dataInfo }
        let records =
            if let find {
                layout.records(
                    AnyFields.self,
                    AnyFields.Portals.self,
                    findQuery: DataAPI.FindQuery(find, options),
                    summary: report
                )
            } else {
                layout.records(
                    AnyFields.self,
                    AnyFields.Portals.self,
                    recordQuery: DataAPI.RecordQuery(options),
                    summary: report
                )
            }
        return
            records
            .tryCatch { error -> Empty<AnyFields.Record, FMRest.APIError> in
                // What hosts answer to an offset behind the last record, and for a layout without records.
                guard error.fileMakerCode == .recordMissing else { throw error }
                return Empty()
            }
            .mapError { error in
                error as? FMRest.APIError
                    ?? FMRest.APIError(.cancelled, reason: "The records were not read to the end.")
            }
            .eraseToAnyPublisher()
    }

    /// What was not printed, or may be missing.
    ///
    /// - Parameters:
    ///   - count: The number of records that were printed.
    ///   - offset: The first of them.
    func remarks(after count: Int, from offset: Int) -> [String] {
        var remarks: [String] = []
        if let info = summary.value, info.isReported, offset - 1 + count < info.foundCount {
            let advice = CommandStreams.captured == nil ? ": --all prints all of them" : ""
            remarks.append("\(count) of \(info.foundCount) records\(advice).")
        }
        if let progress = progress.value, progress.driftCount > 0 {
            remarks.append("Others have inserted or deleted records meanwhile; none was printed twice.")
        }
        return remarks
    }
}
