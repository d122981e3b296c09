import FMData
import OpenCombine

/// One database of the company. Everything the program knows of FileMaker is in here: the rest speaks of contacts.
///
/// Nothing in it logs in, keeps a token or reacts to a dead one: a request does all that by itself.
struct Branch {
    let name: String
    private let contacts: DataAPI.Layout
    private let pageSize = 25

    init(_ name: String, on server: DataAPI.Server, credentials: Credentials) {
        self.name = name
        // The layout keeps its database alive, and that its server.
        contacts = server.addDatabase(name, credentials: credentials).addLayout(Layouts.contacts).retrying()
    }

    /// Files a contact, once.
    ///
    /// When a connection breaks, nobody knows whether the server has carried out what was sent, so the library never sends a
    /// write twice, by no policy. The program may, since `Email` is unique: what is filed already is refused, and that is as
    /// good.
    func file(_ contact: Contact) -> AnyPublisher<BranchContact, FMRest.APIError> {
        contacts.createRecord(record: EditRecord(createRecord: contact))
            .map { _ in () }
            .replaceError(of: .valueNotUnique, with: ())
            .retry(3)
            .map { BranchContact(branch: name, contact: contact) }
            .eraseToAnyPublisher()
    }

    /// All contacts in the order in which they were filed, page by page. The first page says how many there are.
    func allContacts() -> AnyPublisher<BranchContact, FMRest.APIError> {
        page(at: 1)
            .flatMap { first in
                stride(from: 1 + pageSize, through: first.dataInfo.foundCount, by: pageSize).publisher
                    .setFailureType(to: FMRest.APIError.self)
                    .flatMap(maxPublishers: .max(1)) { page(at: $0) }
                    .prepend(first)
            }
            .flatMap { page in
                page.data.map { BranchContact(branch: name, contact: $0.fieldData) }.publisher
                    .setFailureType(to: FMRest.APIError.self)
            }
            .eraseToAnyPublisher()
    }

    private func page(at offset: Int) -> AnyPublisher<Page, FMRest.APIError> {
        contacts.getRecords(recordQuery: RecordQuery(portal: [], offset: offset, limit: pageSize))
            .returnAs(Contact.self)
    }

    private typealias Page = DataAPI.RecordResponse<Contact, DataAPI.EmptyPortal>
}
