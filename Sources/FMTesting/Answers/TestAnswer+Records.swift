public import FMData

extension TestAnswer {
    /// A found set of records with these fields, with the record ids 1, 2, 3 … and the modification id 0.
    ///
    ///     transport.alwaysAnswer(.getRecords, on: "People", with: .records([ada, grace]))
    ///
    /// The answer is what a host makes of the found set: a request for a range gets the part between its offset and its
    /// limit, a request for one record that record, with `dataInfo` of the whole. An empty found set is error 401 for a
    /// find, a range past the end 101. Conditions and sort orders have no effect: the records are those that you give,
    /// in their order. If there is one value only, a request for one record gets it whatever its id is.
    ///
    /// - Parameters:
    ///   - records: the fields of each record.
    ///   - foundCount: the number of records in the found set, if there are more than these.
    public static func records<Fields: Encodable & Sendable>(
        _ records: [Fields],
        foundCount: Int? = nil
    ) -> TestAnswer {
        TestAnswer { context in
            var ids = Array(1...max(records.count, 1))
            if records.count == 1, let asked = context.request.recordId { ids = [asked] }
            let found = FoundRows(ids: Array(ids.prefix(records.count)), foundCount: foundCount) { position in
                try FoundRow(
                    recordId: ids[position],
                    modId: 0,
                    fields: context.encoder.wireValue(of: records[position], .fields)
                )
            }
            return try found.response(to: context.request)
        }
    }

    /// A found set of these records, with their ids, modification ids and portal rows.
    ///
    /// A row of a portal without a record id gets its position. A request gets the part of the found set that it asks
    /// for, of portals too.
    ///
    /// - Parameters:
    ///   - records: the records, in their order.
    ///   - foundCount: the number of records in the found set, if there are more than these.
    public static func records<Fields: Encodable & Sendable, Portals: Encodable & Sendable>(
        _ records: [DataAPI.Record<Fields, Portals>],
        foundCount: Int? = nil
    ) -> TestAnswer {
        TestAnswer { context in
            let found = FoundRows(ids: records.map(\.recordId), foundCount: foundCount) { position in
                let record = records[position]
                return try FoundRow(
                    recordId: record.recordId,
                    modId: record.modId,
                    fields: context.encoder.wireValue(of: record.fieldData, .fields),
                    portals: record.portalData.map { try context.encoder.wireValue(of: $0, .portals) }?.members ?? []
                )
            }
            return try found.response(to: context.request)
        }
    }
}

/// A record of a canned found set.
private struct FoundRow {
    let recordId: Int
    let modId: Int
    let fields: WireValue
    var portals: [WireValue.Member] = []

    func answer(to request: TestRequest) -> WireValue {
        let shown = portals.filter { request.selects(portal: $0.name) }
            .map { PortalRows(name: $0.name, all: $0.value.elements, request) }
        return .object([
            "fieldData": fields,
            "portalData": .object(shown.map { WireValue.Member(name: $0.name, value: .array($0.rows)) }),
            "recordId": .text("\(recordId)"),
            "modId": .text("\(modId)"),
            "portalDataInfo": .array(shown.map { $0.info(in: request) }),
        ])
    }
}

/// The rows of a portal that an answer has.
private struct PortalRows {
    /// What a host sends if the request says nothing.
    private static let usualLimit = 50

    let name: String
    let all: [WireValue]
    let rows: [WireValue]

    init(name: String, all: [WireValue], _ request: TestRequest) {
        self.name = name
        self.all = all
        rows = all.enumerated().map { position, row in Self.completed(row, at: position) }
            .range(offset: request.number("offset.\(name)"), limit: request.number("limit.\(name)") ?? Self.usualLimit)
    }

    func info(in request: TestRequest) -> WireValue {
        .object([
            "database": .text(request.database ?? ""), "table": .text(name), "foundCount": .number(all.count),
            "returnedCount": .number(rows.count),
        ])
    }

    /// A host sends both ids with every row.
    private static func completed(_ row: WireValue, at position: Int) -> WireValue {
        var members = row.members
        if row["recordId"] == nil { members.insert(.init(name: "recordId", value: .text("\(position + 1)")), at: 0) }
        if row["modId"] == nil { members.append(.init(name: "modId", value: .text("0"))) }
        return .object(members)
    }
}

private struct FoundRows {
    /// What a host sends if the request says nothing.
    private static let usualLimit = 100

    let ids: [Int]
    let foundCount: Int?
    /// Makes the row at a position: a page of many records encodes its own only.
    let row: (_ position: Int) throws -> FoundRow

    /// - Throws: ``TestAnswer/Refusal`` where a host refuses.
    func response(to request: TestRequest) throws -> WireValue {
        if request.operation == .getRecord {
            guard let position = ids.firstIndex(where: { $0 == request.recordId }) else {
                throw TestAnswer.Refusal(code: .recordMissing)
            }
            return try response(to: request, with: [position], of: 1)
        }
        let isFind = request.operation == .findRecords
        if isFind, ids.isEmpty { throw TestAnswer.Refusal(code: .noRecordsMatch) }
        let offset = request.number("offset")
        let range = Array(ids.indices).range(offset: offset, limit: request.number("limit") ?? Self.usualLimit)
        if range.isEmpty, let offset, offset > ids.count {
            throw TestAnswer.Refusal(code: isFind ? .noRecordsMatch : .recordMissing)
        }
        return try response(to: request, with: range, of: foundCount ?? ids.count)
    }

    private func response(to request: TestRequest, with range: [Int], of foundCount: Int) throws -> WireValue {
        let info: WireValue = .object([
            "database": .text(request.database ?? ""),
            "layout": .text(request.layout ?? ""),
            "table": .text(request.layout ?? ""),
            "totalRecordCount": .number(max(foundCount, ids.count)),
            "foundCount": .number(foundCount),
            "returnedCount": .number(range.count),
        ])
        return .object(["dataInfo": info, "data": .array(try range.map { try row($0).answer(to: request) })])
    }
}

extension Array {
    /// The elements from an offset on, which counts from 1.
    fileprivate func range(offset: Int?, limit: Int) -> [Element] {
        Array(dropFirst(Swift.max((offset ?? 1) - 1, 0)).prefix(Swift.max(limit, 0)))
    }
}

extension TestRequest {
    fileprivate func number(_ option: String) -> Int? { options[option].flatMap { Int($0) } }

    /// Whether the answer has this portal: all that are there, unless the request names some.
    fileprivate func selects(portal: String) -> Bool {
        guard let named = options["portal"], let names = WireValue(reading: named.utf8) else { return true }
        return names.elements.contains(.text(portal))
    }
}
