import Foundation

@testable import FMData

/// What a call has published, as far as it can be checked.
enum Seen: Equatable {
    case record(id: Int, marker: String)
    case created(id: Int)
    case text(String?)
    case bytes(Data)
    case nothing

    init<P>(_ record: DataAPI.Record<Row, P>) { self = .record(id: record.recordId, marker: record.fieldData.marker) }
}

/// A record of the simulated database.
struct Row: Codable {
    var marker: String
    var note: String

    enum CodingKeys: String, CodingKey {
        case marker = "Marker"
        case note = "Note"
    }
}
