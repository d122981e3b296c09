@testable import FMData

/// A contact of the sandbox's sample, with its phones.
struct SavedContact: LayoutRecord, Equatable {
    static let layout = "Contacts"

    var name = ""
    var city: String?
    var balance: FMNumber?
    var notes: String?
    var nicknames: [String]?
    var photo = DataAPI.ContainerReference.empty
    var label: String?
    var modifiedAt: FMTimestamp?

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case city = "City"
        case balance = "Balance"
        case notes = "Notes"
        case nicknames = "Nicknames"
        case photo = "Photo"
        case label = "Label"
        case modifiedAt = "ModifiedAt"
    }

    struct Portals: Codable, Equatable, Sendable {
        var phones: [Phone]

        enum CodingKeys: String, CodingKey { case phones = "Phones" }
    }

    struct Phone: DataAPIPortalRecord, Encodable, Equatable, Sendable {
        var recordId: Int?
        var modId: Int?
        var kind: String
        var number: String

        enum CodingKeys: String, CodingKey {
            case recordId, modId, kind = "Phones::Kind", number = "Phones::Number"
        }
    }
}

/// The same contact, without portals and without the fields that FileMaker fills in.
struct PlainContact: LayoutRecord, Equatable {
    static let layout = "Contacts"

    var name = ""
    var city: String?
    var balance: FMNumber?
    var email: String?

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case city = "City"
        case balance = "Balance"
        case email = "Email"
    }
}
