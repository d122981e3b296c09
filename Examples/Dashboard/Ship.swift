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

/// The ships in port of one harbour, as last seen.
struct Quay: Sendable {
    let harbour: String
    let ships: [Ship]
    /// Whether the server has answered the last poll.
    let isCurrent: Bool
}
