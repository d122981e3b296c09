import FMData
import FMSandbox
import FMTestSupport
import Testing

/// A person of ``Solution/people(count:)``.
struct Member: LayoutRecord, Equatable {
    static let layout = "People"

    var name: String
    var city: String?
    var uuid: String?

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case city = "City"
        case uuid = "UUID"
    }

    static func numbered(_ numbers: Range<Int>) -> [Member] { numbers.map { Member(name: "Member \($0)") } }
}

extension Solution {
    /// A file of people with unique UUIDs. It has this many records, named "Old 1" and so on, whose record ids begin at
    /// 1.
    static func people(count: Int = 0) -> Solution {
        .single(
            "People",
            fields: [
                Field("Name", validation: .init(notEmpty: true)), Field("City"), Field("Age", .number),
                Field("UUID", validation: .init(unique: true)),
            ],
            layoutFields: ["Name", "City", "Age", "UUID"],
            records: (0..<count).map { Record(["Name": "Old \($0 + 1)", "UUID": "u\($0 + 1)"]) }
        )
    }
}

extension Sandbox {
    /// The records of the table `People`.
    var people: [Solution.Record] { records(ofTable: "People", inDatabase: "Single") ?? [] }

    func setLocked(_ isLocked: Bool, person recordId: Int) throws {
        try setLocked(isLocked, recordId: recordId, ofTable: "People", inDatabase: "Single")
    }
}

extension DataAPI.Batch {
    /// The totals of a batch that is stopped: its summary fails with them.
    func stopped() async throws -> DataAPI.BatchSummary {
        let error = await summary.outcome().failure
        return try #require(error?.batchSummary)
    }
}

/// The outcomes of a batch as short texts, for comparisons.
extension DataAPI.BatchRow {
    var short: String {
        let word =
            switch result.kind {
            case .updated: "edited"
            case .deleted: "deleted\(result.wasThere.map { $0 ? "" : ", was gone" } ?? ", who knows")"
            case .failed:
                "failed \(error?.fileMakerCode.map { "\($0.rawValue)" } ?? error?.code.description ?? "without an error")"
            default: result.kind.description
            }
        return "\(index) \(word)"
    }
}
