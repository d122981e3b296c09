import FMData

enum Layouts: String, LayoutKey {
    case contacts = "Contacts"
    case countries = "Countries"
}

struct Person: Codable, Sendable {
    var name: String
    var city: String

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case city = "City"
    }
}

/// The ids of rows are texts, as in that README.
struct Portals: Decodable, Sendable {
    let phones: [Phone]

    enum CodingKeys: String, CodingKey {
        case phones = "Phones"
    }

    struct Phone: DataAPIPortalRecord, Sendable {
        var recordId: String
        var modId: String
        var number: String

        enum CodingKeys: String, CodingKey {
            case recordId, modId
            case number = "Phones::Number"
        }
    }
}

struct NewPhones: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        var number: String

        enum CodingKeys: String, CodingKey {
            case number = "Phones::Number"
        }
    }

    var phones: [Row]

    enum CodingKeys: String, CodingKey {
        case phones = "Phones"
    }
}
