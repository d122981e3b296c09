import FMData
import OpenCombine

/// One database of the company. All code that knows FileMaker is in here; the rest uses contacts only.
///
/// No code in it logs in, keeps a token or replaces an expired one: requests do that by themselves.
struct Branch {
    let name: String
    private let contacts: DataAPI.TypedLayout<Contact>

    init(_ name: String, on server: DataAPI.Server, credentials: Credentials) {
        self.name = name
        // The layout keeps its database alive, and the database its server.
        contacts = server.addDatabase(name, credentials: credentials).layout(Contact.self).retrying()
    }

    /// Files a contact, once.
    ///
    /// When a connection breaks, it is unknown whether the server has carried out the request, so the library never
    /// sends a write twice, with any policy. This program may, since `Email` is unique: the server rejects a contact
    /// that is filed already, and that is fine.
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
