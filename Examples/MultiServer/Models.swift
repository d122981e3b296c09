import FMData

/// A contact as a file has it; the layout is the same in each.
struct Contact: LayoutRecord {
    static let layout = "Contacts"

    let name: String
    let email: String

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case email = "Email"
    }
}

/// A contact of the company: with the branch whose file it is in.
struct BranchContact: Sendable {
    let branch: String
    let contact: Contact
}
