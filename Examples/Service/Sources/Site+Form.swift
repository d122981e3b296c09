import FMData
import Foundation
import HTTPTypes
import Hummingbird

extension Site {
    /// `GET …/17` and `POST …/17`: a form that edits one contact. Visitors sign in with accounts of their own, so that
    /// FileMaker decides what they may see and change, and notes who did.
    func addForms(to routes: RouterGroup<BasicRequestContext>) {
        routes.get(":id") { request, context in
            let contacts = try contacts(for: request)
            let id = try context.parameters.require("id", as: Int.self)
            return try await asking { ContactForm(shows: try await contacts.record(id: id).firstValue()) }
        }
        routes.post(":id") { request, context in
            // A browser sends passwords of this site with forms of other sites too.
            guard isOfThisSite(request) else { throw HTTPError(.forbidden) }
            let contacts = try contacts(for: request)
            let id = try context.parameters.require("id", as: Int.self)
            let sent = try await URLEncodedFormDecoder().decode(SentContact.self, from: request, context: context)
            return try await asking { try await save(sent, id: id, to: contacts) }
        }
    }

    /// Writes the fields that the visitor has changed since the form was opened. What others have changed meanwhile
    /// stays; for a field that both have changed the visitor gets the form again, with both values.
    private func save(
        _ sent: SentContact,
        id: Int,
        to contacts: DataAPI.TypedLayout<Contact>
    ) async throws -> ContactForm {
        do {
            let saved = try await contacts.save(sent.draft(id: id), onConflict: .merge).firstValue()
            return ContactForm(shows: saved.record, message: "Saved.")
        } catch let error as FMRest.APIError where error.saveConflict?.kind == .changedByOther {
            let theirs = try await contacts.record(id: id).firstValue()
            return ContactForm(shows: theirs, mine: sent, contested: error.saveConflict?.contested.map(\.field) ?? [])
        }
    }

    /// Whether a form comes from a page of this site, as far as the browser says (Fetch Metadata).
    private func isOfThisSite(_ request: Request) -> Bool {
        HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] } ?? "same-origin" == "same-origin"
    }

    /// The contacts as the visitor may see them. The database of an account keeps its session for further requests.
    private func contacts(for request: Request) throws -> DataAPI.TypedLayout<Contact> {
        guard let account = Credentials(basic: request.headers[.authorization]) else { throw HTTPError.signIn }
        return contacts.layout.database.signedIn(as: account).layout(Contact.self).timeouts { $0.total = .seconds(10) }
    }

    /// Asks for another password if FileMaker refuses the account.
    private func asking(_ work: () async throws -> ContactForm) async throws -> ContactForm {
        do {
            return try await work()
        } catch let error as FMRest.APIError where error.fileMakerCode == .invalidAccount {
            throw HTTPError.signIn
        }
    }
}

/// What the form sends: the values that it showed, with their version, and those that are in it now.
struct SentContact: Decodable {
    var modId: Int
    var shownName, shownEmail, shownCity: String
    private var name, email, city: String

    var shown: Contact { Contact(name: shownName, email: shownEmail, city: shownCity) }

    /// What the visitor wants. A browser leaves line breaks out of an `<input>`: a field that lacks nothing else is as
    /// it was shown.
    var wanted: Contact {
        func entered(_ text: String, over shown: String) -> String {
            text == shown.filter { !$0.isNewline } ? shown : text
        }
        return Contact(
            name: entered(name, over: shownName),
            email: entered(email, over: shownEmail),
            city: entered(city, over: shownCity)
        )
    }

    func draft(id: Int) -> DataAPI.Draft<Contact> {
        var draft = DataAPI.TypedLayout<Contact>.Record(fieldData: shown, recordId: id, modId: modId).draft()
        draft.fields = wanted
        return draft
    }
}

extension Credentials {
    /// The account of HTTP's Basic scheme (RFC 7617).
    fileprivate init?(basic header: String?) {
        guard let header, header.lowercased().hasPrefix("basic "),
            let decoded = Data(base64Encoded: header.dropFirst(6).trimmingCharacters(in: .whitespaces)),
            let text = String(data: decoded, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        self.init(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }
}

extension HTTPError {
    fileprivate static var signIn: HTTPError {
        HTTPError(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="FileMaker", charset="UTF-8""#])
    }
}
