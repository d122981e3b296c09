import FMData

/// A country: a plain struct with the name of its layout and one property for each field it needs.
struct Country: LayoutRecord {
    static let layout = "Countries"

    let code: String
    let name: String

    enum CodingKeys: String, CodingKey {
        case code = "Code"
        case name = "Name"
    }

    /// The portals of the layout: one array per portal.
    struct Portals: Codable, Sendable {
        let zones: [ZoneRow]

        enum CodingKeys: String, CodingKey {
            case zones = "Zones"
        }
    }

    /// A row of the portal: its fields have the name of their table in front.
    struct ZoneRow: DataAPIPortalRecord, Codable, Sendable {
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

struct Zone: LayoutRecord {
    static let layout = "Zones"

    let name: String
    let latitude: Double
    let longitude: Double

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case latitude = "Latitude"
        case longitude = "Longitude"
    }
}

struct Contact: LayoutRecord {
    static let layout = "Contacts"

    var name: String
    var email: String
    var city: String

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case email = "Email"
        case city = "City"
    }
}
