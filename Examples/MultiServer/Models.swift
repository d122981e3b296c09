import FMData

/// The layouts that the program uses; they are the same in each file.
enum Layouts: String, LayoutKey {
    case contacts = "Contacts"
}

/// A contact as a file has it: a plain struct whose keys are field names.
struct Contact: Codable, Sendable {
    let name: String
    let email: String

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case email = "Email"
    }
}

/// A contact as the company sees it: with the branch whose file it is in.
struct BranchContact: Sendable {
    let branch: String
    let contact: Contact
}
