import FMData

/// The layouts of the sample file. An enum of `String` needs nothing more.
enum Layouts: String, LayoutKey {
    case countries = "Countries"
    case zones = "Zones"
    case contacts = "Contacts"
}

/// The fields of a country: a plain struct whose keys are field names.
struct Country: Decodable, Sendable {
    let code: String
    let name: String

    enum CodingKeys: String, CodingKey {
        case code = "Code"
        case name = "Name"
    }

    /// The portals of the layout `Countries`: one array per portal.
    struct Portals: Decodable, Sendable {
        let zones: [ZoneRow]

        enum CodingKeys: String, CodingKey {
            case zones = "Zones"
        }
    }

    /// A row of the portal: its fields carry the name of their table.
    struct ZoneRow: DataAPIPortalRecord, Sendable {
        let recordId: Int
        let modId: Int
        let name: String
        let latitude: Double
        let longitude: Double

        enum CodingKeys: String, CodingKey {
            case recordId, modId
            case name = "Zones::Name"
            case latitude = "Zones::Latitude"
            case longitude = "Zones::Longitude"
        }
    }
}

struct Zone: Decodable, Sendable {
    let name: String
    let latitude: Double
    let longitude: Double

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case latitude = "Latitude"
        case longitude = "Longitude"
    }
}

struct Contact: Codable, Sendable {
    var name: String
    var email: String
    var city: String

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case email = "Email"
        case city = "City"
    }
}
