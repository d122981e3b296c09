import FMData
import OpenCombine

/// The writes of an import, in the order of the rows, each at the place of its row: a row that is not to be sent has a
/// write that fails by itself, so that a run that resumes this one finds each row at the same place.
actor ImportRows {
    /// A row that was given to the batch, and what is known against it.
    struct Given: Sendable {
        var row: InputRow
        /// Why it is not sent.
        var problem: String?
    }

    private let reader: RowReader
    private let plan: ImportPlan
    private let layout: DataAPI.TypedLayout<FieldData>
    private let keyField: LayoutFields.Field?
    /// Rows that were read, and whose records were looked up.
    private var ready: ArraySlice<(given: Given, write: DataAPI.RecordWrite<FieldData>)> = []
    /// The rows that the batch has, by their places.
    private var given: [Int: Given] = [:]
    private var count = 0
    /// The rows that write line feeds.
    private(set) var lineFeedCount = 0

    init(_ reader: RowReader, _ plan: ImportPlan, _ layout: DataAPI.TypedLayout<FieldData>, _ fields: LayoutFields) {
        self.reader = reader
        self.plan = plan
        self.layout = layout
        keyField = plan.isById ? nil : plan.key.flatMap(fields.field)
    }

    /// The write of the next row; nil at the end.
    func next() async throws -> DataAPI.RecordWrite<FieldData>? {
        if ready.isEmpty { try await readMore() }
        guard let next = ready.popFirst() else { return nil }
        given[count] = next.given
        count += 1
        return next.write
    }

    /// The row at a place, once, and how many there are about.
    func take(_ place: Int) async -> (given: Given?, total: Int?) {
        let given = given.removeValue(forKey: place)
        return (given, await reader.estimatedCount)
    }

    private func readMore() async throws {
        let looksUp = plan.mode == .update && !plan.isById
        var rows: [(InputRow, Result<ImportPlan.Row, ImportPlan.Problems>)] = []
        var next = try await reader.next()
        while let row = next {
            rows.append((row, Result { () throws(ImportPlan.Problems) in try plan.row(row.values) }))
            // A program that writes slowly is not waited for.
            next = looksUp && rows.count < Self.lookupSize ? await reader.nextAtHand() : nil
        }
        let found = looksUp ? try await records(of: rows.compactMap { try? $0.1.get().key }) : [:]
        ready += rows.map { row, planned in
            switch planned {
            case .success(let planned):
                if plan.hasLineFeeds(planned, in: row.values) { lineFeedCount += 1 }
                return write(planned, of: row, found)
            case .failure(let problems): return Self.unsent(row, problems.text)
            }
        }
    }

    private func write(
        _ planned: ImportPlan.Row,
        of row: InputRow,
        _ found: [FieldValue: [Int]]
    ) -> (Given, DataAPI.RecordWrite<FieldData>) {
        let given = Given(row: row)
        switch plan.mode {
        case .insert: return (given, .create(planned.fields))
        case .upsert: return (given, .upsert(planned.fields, by: .init(stringValue: plan.key ?? "")))
        case .update:
            if let recordId = planned.recordId {
                return (given, .edit(recordId, setting: planned.fields, modId: planned.modId))
            }
            let records = found[normalized(planned.key)] ?? []
            guard let recordId = records.first else { return Self.unsent(row, "No record has the key.") }
            guard records.count == 1 else { return Self.unsent(row, "\(records.count) records have the key.") }
            return (given, .edit(recordId, setting: planned.fields))
        }
    }

    /// A row that is not sent: its write fails without a request.
    private static func unsent(
        _ row: InputRow,
        _ problem: String
    ) -> (Given, DataAPI.RecordWrite<FieldData>) {
        (Given(row: row, problem: problem), .edit("line \(row.line)", setting: [:]))
    }

    // MARK: Records by their keys

    /// How many keys one find asks for.
    private static let lookupSize = 50

    /// The records of keys. FileMaker finds keys without regard to case and accents, so they are compared here.
    private func records(of keys: [FieldValue]) async throws -> [FieldValue: [Int]] {
        guard let field = keyField, !keys.isEmpty else { return [:] }
        var found: [FieldValue: [Int]] = [:]
        for try await record in layout.find(Self.find(Array(Set(keys)), field)).all().values {
            guard let value = record.fieldData[field.name] else { continue }
            found[normalized(value), default: []].append(record.recordId)
        }
        return found
    }

    private static func find(_ keys: [FieldValue], _ field: LayoutFields.Field) -> DataAPI.Find {
        let target = DataAPI.FindField(named: field.name)
        switch field.result {
        case .number: return target.isOneOf(keys.compactMap(\.number))
        case .date: return target.isOneOf(keys.compactMap { $0.date() })
        case .timeStamp: return target.isOneOf(keys.compactMap { $0.timestamp() })
        case .time: return target.isOneOf(keys.compactMap { $0.time() })
        default: return target.isOneOf(keys.map(\.text))
        }
    }

    /// A key in one spelling.
    private func normalized(_ key: FieldValue) -> FieldValue {
        guard keyField?.result == .number else { return .text(key.text) }
        return key.number.map(FieldValue.number) ?? key
    }
}
