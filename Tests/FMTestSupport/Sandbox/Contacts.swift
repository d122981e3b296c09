package import FMData

/// A contact of the sandbox's sample, with its phones.
package struct SavedContact: LayoutRecord, Equatable {
    package static let layout = "Contacts"

    package var name = ""
    package var city: String?
    package var balance: FMNumber?
    package var notes: String?
    package var nicknames: [String]?
    package var photo = DataAPI.ContainerReference.empty
    package var label: String?
    package var modifiedAt: FMTimestamp?

    package init(
        name: String = "",
        city: String? = nil,
        balance: FMNumber? = nil,
        notes: String? = nil,
        nicknames: [String]? = nil,
        photo: DataAPI.ContainerReference = .empty,
        label: String? = nil,
        modifiedAt: FMTimestamp? = nil
    ) {
        self.name = name
        self.city = city
        self.balance = balance
        self.notes = notes
        self.nicknames = nicknames
        self.photo = photo
        self.label = label
        self.modifiedAt = modifiedAt
    }

    package enum CodingKeys: String, CodingKey {
        case name = "Name"
        case city = "City"
        case balance = "Balance"
        case notes = "Notes"
        case nicknames = "Nicknames"
        case photo = "Photo"
        case label = "Label"
        case modifiedAt = "ModifiedAt"
    }

    package struct Portals: Codable, Equatable, Sendable {
        package var phones: [Phone]

        package init(phones: [Phone]) { self.phones = phones }

        package enum CodingKeys: String, CodingKey { case phones = "Phones" }
    }

    package struct Phone: DataAPIPortalRecord, Encodable, Equatable, Sendable {
        package var recordId: Int?
        package var modId: Int?
        package var kind: String
        package var number: String

        package init(recordId: Int? = nil, modId: Int? = nil, kind: String, number: String) {
            self.recordId = recordId
            self.modId = modId
            self.kind = kind
            self.number = number
        }

        package enum CodingKeys: String, CodingKey {
            case recordId, modId, kind = "Phones::Kind", number = "Phones::Number"
        }
    }
}

/// The same contact, without portals and without the fields that FileMaker fills in.
package struct PlainContact: LayoutRecord, Equatable {
    package static let layout = "Contacts"

    package var name = ""
    package var city: String?
    package var balance: FMNumber?
    package var email: String?

    package init(name: String = "", city: String? = nil, balance: FMNumber? = nil, email: String? = nil) {
        self.name = name
        self.city = city
        self.balance = balance
        self.email = email
    }

    package enum CodingKeys: String, CodingKey {
        case name = "Name"
        case city = "City"
        case balance = "Balance"
        case email = "Email"
    }
}
