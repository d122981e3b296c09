import FMData

/// A ship in a harbour's file.
struct Ship: LayoutRecord {
    static let layout = "Ships"

    var name: String
    var berth: String
    var state: String

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case berth = "Berth"
        case state = "State"
    }
}
