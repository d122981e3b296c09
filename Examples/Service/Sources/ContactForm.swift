import FMData
import HTTPTypes
import Hummingbird
import Mustache

/// The page of a contact.
struct ContactForm: ResponseGenerator, Sendable {
    struct Field: Sendable {
        var key: String
        var label: String
        /// What FileMaker had when this page was made.
        var shown: String
        /// What is in the field: the same, or what the visitor had entered into an earlier page.
        var value: String
        var isContested = false
    }

    var modId: Int
    var message: String?
    var fields: [Field]

    init(shows record: DataAPI.TypedLayout<Contact>.Record, message: String? = nil) {
        modId = record.modId
        self.message = message
        fields = zip(["name", "email", "city"], record.fieldData.texts).map { key, text in
            Field(key: key, label: key.capitalized, shown: text, value: text)
        }
    }

    /// The record as others have left it, with what the visitor has entered into fields that they have changed too.
    init(shows theirs: DataAPI.TypedLayout<Contact>.Record, mine: SentContact, contested: [String]) {
        self.init(
            shows: theirs,
            message: "Somebody else was faster. Nothing is saved yet: look at the marked fields, and save again."
        )
        let (wanted, shown) = (mine.wanted.texts, mine.shown.texts)
        for index in fields.indices where wanted[index] != shown[index] {
            fields[index].value = wanted[index]
            fields[index].isContested = contested.contains(fields[index].label)
        }
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        let page = Self.template.render(self)
        return Response(
            status: fields.contains(where: \.isContested) ? .conflict : .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
            ],
            body: .init(byteBuffer: ByteBuffer(string: page))
        )
    }

    /// Mustache escapes the values.
    private static let template: MustacheTemplate = {
        do {
            return try MustacheTemplate(
                string: """
                    <!doctype html>
                    <html lang="en">
                    <meta charset="utf-8"><meta name="viewport" content="width=device-width">
                    <title>Contact</title>
                    {{#message}}<p role="status">{{message}}</p>{{/message}}
                    <form method="post">
                    <input type="hidden" name="modId" value="{{modId}}">
                    {{#fields}}
                    <p><label>{{label}} <input name="{{key}}" value="{{value}}"></label>
                    <input type="hidden" name="shown{{label}}" value="{{shown}}">
                    {{#isContested}}<strong>Somebody else has entered “{{shown}}”.</strong>{{/isContested}}
                    {{/fields}}
                    <p><button>Save</button>
                    </form>
                    """
            )
        } catch {
            preconditionFailure("the template above is wrong: \(error)")
        }
    }()
}

extension Contact {
    /// The texts of the form, in its order.
    fileprivate var texts: [String] { [name, email, city ?? ""] }
}
