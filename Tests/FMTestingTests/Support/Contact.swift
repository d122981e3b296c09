import FMData

/// A record of the sandbox's sample file, with its phones.
struct Contact: LayoutRecord, Equatable {
    static let layout = "Contacts"
    static let readOnlyFields: [CodingKeys]? = []

    struct Portals: Codable, Equatable, Sendable {
        var phones: [Phone]

        enum CodingKeys: String, CodingKey { case phones = "Phones" }
    }

    struct Phone: DataAPIPortalRecord, Codable, Equatable, Sendable {
        var recordId: Int?
        var modId: Int?
        var number: String

        enum CodingKeys: String, CodingKey { case recordId, modId, number = "Phones::Number" }
    }

    var name: String
    var city: String?
    var balance: FMNumber?
    var birthday: FMDate?

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case city = "City"
        case balance = "Balance"
        case birthday = "Birthday"
    }
}
