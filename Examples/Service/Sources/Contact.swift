import FMData
import Hummingbird

/// A contact as FileMaker has it.
struct Contact: LayoutRecord {
    static let layout = "Contacts"

    var name: String
    var email: String
    var city: String?

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case email = "Email"
        case city = "City"
    }
}

/// A contact as visitors get it.
struct ContactAnswer: ResponseEncodable, Sendable {
    var id: Int
    /// The version. Whoever changes the contact says which one they have seen.
    var modId: Int?
    var name: String
    var email: String
    var city: String?

    init(_ record: DataAPI.TypedLayout<Contact>.Record) {
        id = record.recordId
        modId = record.modId
        name = record.fieldData.name
        email = record.fieldData.email
        city = record.fieldData.city
    }
}

/// What visitors send to change a contact: the version that they have seen, and the fields that change.
struct ContactChange: Decodable {
    var modId: Int
    var name: String?
    var email: String?
    var city: String?

    var fields: DataAPI.FieldAssignments<Contact> {
        var fields = DataAPI.FieldAssignments<Contact>()
        if let name { fields[.name] = .some(name) }
        if let email { fields[.email] = .some(email) }
        if let city { fields[.city] = .some(city) }
        return fields
    }
}

/// The version that a contact has after a change.
struct ContactVersion: ResponseEncodable {
    var id: Int
    var modId: Int
}
