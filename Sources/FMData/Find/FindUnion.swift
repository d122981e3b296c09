/// The records of a find that takes several calls, put together answer by answer.
struct FindUnion<R, P> {
    typealias Record = DataAPI.Record<R, P>
    typealias Member = (record: Record, keys: [FindSort.Key])

    private let plan: FindPlan
    private var part = 0
    private var callsOfPart = 0
    /// What all calls of the part so far have found.
    private var common: [Int: Member] = [:]
    /// What all parts before it have found, each record once, as it was fetched last.
    private var found: [Int: Member] = [:]
    private var dataInfo: DataAPI.DataInfo?
    private var messages: [DataAPI.Message] = []

    init(_ plan: FindPlan) {
        self.plan = plan
    }

    /// Takes in the answer of the next call; `nil` when it found nothing.
    ///
    /// - Parameter format: How dates are written in it.
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

    /// The answer, as one call would have given it; `nil` when nothing was found, or nothing as far back as the offset.
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

/// The fields of a record, and once more as they came, for sorting.
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
