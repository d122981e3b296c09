import FMData
import OpenCombine

/// One database of the company. Everything the program knows of FileMaker is in here: the rest speaks of contacts.
///
/// Nothing in it logs in, keeps a token or reacts to a dead one: a request does all that by itself.
struct Branch {
    let name: String
    private let contacts: DataAPI.TypedLayout<Contact>

    init(_ name: String, on server: DataAPI.Server, credentials: Credentials) {
        self.name = name
        // The layout keeps its database alive, and that its server.
        contacts = server.addDatabase(name, credentials: credentials).layout(Contact.self).retrying()
    }

    /// Files a contact, once.
    ///
    /// When a connection breaks, nobody knows whether the server has carried out what was sent, so the library never sends a
    /// write twice, by no policy. The program may, since `Email` is unique: what is filed already is refused, and that is as
    /// good.
    func file(_ contact: Contact) -> AnyPublisher<BranchContact, FMRest.APIError> {
        contacts.create(contact)
            .map { _ in () }
            .replaceError(of: .valueNotUnique, with: ())
            .retry(3)
            .map { BranchContact(branch: name, contact: contact) }
            .eraseToAnyPublisher()
    }

    /// All contacts in the order in which they were filed, page by page.
    func allContacts() -> AnyPublisher<BranchContact, FMRest.APIError> {
        contacts.all(pageSize: 25)
            .map { BranchContact(branch: name, contact: $0.fieldData) }
            .eraseToAnyPublisher()
    }
}
