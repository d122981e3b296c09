/// Combines the answers of a find that needs several calls.
struct FindUnion<R, P> {
    typealias Record = DataAPI.Record<R, P>
    typealias Member = (record: Record, keys: [FindSort.Key])

    private let plan: FindPlan
    private var part = 0
    private var callsOfPart = 0
    /// The records found by all calls of the current part so far.
    private var common: [Int: Member] = [:]
    /// The records found by the parts before it, each once, as it was fetched last.
    private var found: [Int: Member] = [:]
    private var dataInfo: DataAPI.DataInfo?
    private var messages: [DataAPI.Message] = []

    init(_ plan: FindPlan) {
        self.plan = plan
    }

    /// Adds the answer of the next call.
    ///
    /// - Parameters:
    ///   - response: The answer; `nil` if it found nothing.
    ///   - format: The format of the dates in it.
    mutating func add(
        _ response: DataAPI.RecordResponse<Sortable<R>, P>?,
        _ sort: FindSort,
        format: ValueFormat
    ) throws(FMRest.APIError) {
        var answer: [Int: Member] = [:]
        for record in response?.data ?? [] where callsOfPart == 0 || common[record.recordId] != nil {
            answer[record.recordId] = (
                record.withoutSortFields(), try sort.keys(of: record.fieldData.fields, format: format)
            )
        }
        common = answer
        if let response {
            dataInfo = response.dataInfo
            messages = response.messages
        }
        callsOfPart += 1
        if callsOfPart == plan.parts[part].count {
            found.merge(common) { _, later in later }
            (part, callsOfPart, common) = (part + 1, 0, [:])
        }
    }

    /// The answer as one call would have given it; `nil` if nothing was found, or if the offset is beyond the last
    /// record.
    func response(_ sort: FindSort, offset: Int, limit: Int) -> DataAPI.RecordResponse<R, P>? {
        guard var dataInfo, offset <= found.count else { return nil }
        let members = found.values.sorted {
            sort.areInOrder(($0.keys, $0.record.recordId), ($1.keys, $1.record.recordId))
        }
        let page = members.dropFirst(offset - 1).prefix(limit).map(\.record)
        dataInfo.foundCount = found.count
        dataInfo.returnedCount = page.count
        return DataAPI.RecordResponse(data: page, dataInfo: dataInfo, messages: messages)
    }
}

/// The fields of a record as a value, and as they came, for sorting.
struct Sortable<R> {
    var value: R
    var fields: FieldData
}

extension Sortable: Decodable where R: Decodable {
    init(from decoder: any Decoder) throws {
        value = try AsFields<R>(from: decoder).value
        fields = try AsFields<FieldData>(from: decoder).value
    }
}

extension DataAPI.Record {
    fileprivate func withoutSortFields<Fields>() -> DataAPI.Record<Fields, P> where R == Sortable<Fields> {
        DataAPI.Record<Fields, P>(
            fieldData: fieldData.value,
            portalData: portalData,
            recordId: recordId,
            modId: modId,
            portalDataInfo: portalDataInfo
        )
    }
}
