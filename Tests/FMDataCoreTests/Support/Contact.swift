import FMData

@testable import FMDataCore

/// A contact of the sandbox's sample file.
struct Contact: Codable, Equatable, Sendable {
    var name: String
    var birthday: FMDate?
    var wakeUp: FMTime?
    enum CodingKeys: String, CodingKey { case name = "Name", birthday = "Birthday", wakeUp = "WakeUp" }
}
