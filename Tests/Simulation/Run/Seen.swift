import FMData
import Foundation

@testable import FMDataCore
@testable import FMDataRecords

/// A published value of a call, as far as it can be checked.
enum Seen: Equatable {
    case record(id: Int, marker: String)
    case created(id: Int)
    case text(String?)
    case names([String])
    case bytes(Data)
    /// The records of a live query after all its values so far.
    case copy(Copy)
    /// The outcome of one of several rows.
    case row(Int, Outcome)
    /// The same with all its details.
    case told(Told)
    case nothing

    enum Outcome { case done, failed, unknown, skipped }

    /// The records in it, with their markers.
    var records: [(id: Int, marker: String)] {
        switch self {
        case .record(let id, let marker): [(id, marker)]
        case .copy(let copy): copy.lines.map { ($0.id, $0.marker) }
        case .created, .text, .names, .bytes, .row, .told, .nothing: []
        }
    }

    /// Whether it is a row that was not written.
    var isTrouble: Bool { if case .row(_, let outcome) = self { outcome != .done } else { false } }

    init<P>(_ record: DataAPI.Record<Row, P>) { self = .record(id: record.recordId, marker: record.fieldData.marker) }

    init(_ row: DataAPI.BatchRow) {
        let outcome: Outcome =
            switch row.result.kind {
            case .failed: .failed
            case .unknown: .unknown
            case .skipped: .skipped
            default: .done
            }
        self = .row(row.index, outcome)
    }
}

/// The outcome of a row that was written with a journal.
struct Told: Equatable {
    let index: Int
    let kind: DataAPI.WriteResult.Kind
    let recordId: Int?
    let fileMakerCode: FileMakerErrorCode?
    let isFromJournal: Bool
    /// Whether its error may be another one in another run.
    let mayPass: Bool
    let text: String

    init(_ row: DataAPI.BatchRow) {
        index = row.index
        kind = row.result.kind
        recordId = row.recordId
        fileMakerCode = row.error?.fileMakerCode
        isFromJournal = row.isFromJournal
        mayPass = row.error.map { BatchTrouble($0).mayPass } ?? false
        text = "\(row)"
    }
}

/// A record of the simulated database.
struct Row: RecordFields {
    var marker: String
    var note: String

    enum CodingKeys: String, CodingKey {
        case marker = "Marker"
        case note = "Note"
    }
}

/// The same record with a key, which is unique.
struct KeyedRow: LayoutRecord {
    static let layout = HostPlan.keyedLayout
    var marker: String
    var note = HostPlan.secret
    var key: String

    enum CodingKeys: String, CodingKey {
        case marker = "Marker"
        case note = "Note"
        case key = "Key"
    }
}
