import FMData
package import FMSandbox

/// A person of ``FMSandbox/Solution/people(count:)``.
package struct Member: LayoutRecord, Equatable {
    package static let layout = "People"

    package var name: String
    package var city: String?
    package var uuid: String?

    package enum CodingKeys: String, CodingKey {
        case name = "Name"
        case city = "City"
        case uuid = "UUID"
    }

    package init(name: String, city: String? = nil, uuid: String? = nil) {
        self.name = name
        self.city = city
        self.uuid = uuid
    }

    package static func numbered(_ numbers: Range<Int>) -> [Member] { numbers.map { Member(name: "Member \($0)") } }
}

extension Solution {
    /// A file of people with unique UUIDs. It has this many records, named "Old 1" and so on, whose record ids begin at
    /// 1.
    package static func people(count: Int = 0) -> Solution {
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
    package var people: [Solution.Record] { records(ofTable: "People", inDatabase: "Single") ?? [] }
}
