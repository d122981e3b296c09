import FMData

/// A record of the layout `Vessels`: the name of its layout, its fields, and their names there.
struct Vessel: LayoutRecord {
    static let layout = "Vessels"

    /// Rises by one with each record, and never changes.
    var number: Int
    var name: String
    var length: Double

    enum CodingKeys: String, CodingKey {
        case number = "Number"
        case name = "Name"
        case length = "Length"
    }
}
