public import FMData
public import Foundation

/// An answer of a ``TestTransport``, made of Swift values in the form in which a host sends them.
///
/// ```swift
/// let transport = TestTransport()
/// transport.answer(.createRecord, with: .created(17))
/// transport.answer(.editRecord, with: .error(306), .edited(modId: 4))
/// transport.alwaysAnswer(.runScript, with: .script("42"))
/// let contacts = transport.database().addLayout("Contacts")
/// let ada = EditRecord(createRecord: ["Name": "Ada"])
/// print(try await contacts.createRecord(record: ada).firstValue().recordId)              // 17
/// ```
public struct TestAnswer: Sendable {
    /// What an answer is made for.
    struct Context: Sendable {
        let request: TestRequest
        /// Writes values as the client expects them.
        let encoder: FMEncoder
        /// Tokens of earlier logins must not come again.
        let loginCount: Int
    }

    /// What the client gets.
    typealias Outcome = Result<[DataAPI.ResponsePart], DataAPI.TransportError>

    private enum Content: Sendable {
        case response(@Sendable (Context) throws -> Response)
        case failure(DataAPI.TransportError)
        case never
        case computed(@Sendable (TestRequest) throws -> TestAnswer)
    }

    private let content: Content
    /// How long the host takes.
    private var delay = Duration.zero

    private init(_ content: Content) { self.content = content }

    init(response: @escaping @Sendable (Context) throws -> Response) { content = .response(response) }

    /// An answer with this content of `response`, and the message that all went well.
    init(_ response: @escaping @Sendable (Context) throws -> WireValue) {
        content = .response { context in Response(response: try response(context)) }
    }

    /// The same answer, after a time on the transport's clock.
    public func delayed(by duration: Duration) -> TestAnswer {
        var answer = self
        answer.delay += duration
        return answer
    }

    /// What the client gets, and how long the host takes; `nil` for no answer at all.
    func outcome(in context: Context) throws(DataAPI.TransportError) -> (Outcome?, Duration) {
        do {
            switch content {
            case .response(let make): return (.success(try make(context).parts), delay)
            case .failure(let error): return (.failure(error), delay)
            case .never: return (nil, delay)
            case .computed(let answer):
                let (outcome, inner) = try answer(context.request).outcome(in: context)
                return (outcome, delay + inner)
            }
        } catch let error as DataAPI.TransportError {
            throw error
        } catch let refusal as Refusal {
            return (.success(Response(refusal: refusal.code).parts), delay)
        } catch {
            throw DataAPI.TransportError(
                code: .invalidRequest,
                outcome: .notSent,
                underlying: "The answer to \(context.request) cannot be made: \(error)"
            )
        }
    }
}

// MARK: - What goes wrong, and what has no type

extension TestAnswer {
    /// FileMaker's refusal: 401 is "no records match the request". With the HTTP status that hosts send with the code.
    public static func error(_ code: FileMakerErrorCode) -> TestAnswer {
        TestAnswer(response: { _ in Response(refusal: code) })
    }

    /// The exchange fails before a byte of the request was sent: the host has certainly not acted on it.
    ///
    ///     .failure(beforeSending: .connectionRefused)
    public static func failure(beforeSending code: DataAPI.TransportError.Code) -> TestAnswer {
        TestAnswer(.failure(DataAPI.TransportError(code: code, outcome: .notSent)))
    }

    /// The exchange fails after the request was sent and before an answer came: the host may have acted on it, so the
    /// error of a write has `outcomeIsUnknown`.
    ///
    ///     .failure(afterSending: .connectionClosed)
    public static func failure(afterSending code: DataAPI.TransportError.Code) -> TestAnswer {
        TestAnswer(.failure(DataAPI.TransportError(code: code, outcome: .unknown)))
    }

    /// No answer: until the call is cancelled, or until the clock of the transport has passed the call's time limits.
    public static var never: TestAnswer { TestAnswer(.never) }

    /// A body of JSON, as it is.
    public static func json(_ text: String, status: Int = 200) -> TestAnswer {
        TestAnswer(response: { _ in Response(status: status, body: Data(text.utf8)) })
    }

    /// Any answer of HTTP, such as the page of a gateway.
    ///
    ///     .http(503, "<html>…</html>", headers: ["Content-Type": "text/html", "Retry-After": "5"])
    public static func http(_ status: Int, _ body: String = "", headers: DataAPI.Headers = [:]) -> TestAnswer {
        TestAnswer(response: { _ in Response(status: status, headers: headers, body: Data(body.utf8)) })
    }

    /// The answer that a closure gives to the request. An error that it throws fails the call.
    ///
    ///     .computed { request in request.fields["Name"] == nil ? .error(509) : .created(1) }
    public static func computed(_ answer: @escaping @Sendable (TestRequest) throws -> TestAnswer) -> TestAnswer {
        TestAnswer(.computed(answer))
    }
}

// MARK: - Answers of writes, scripts and lists

extension TestAnswer {
    /// Nothing but the message that all went well: of a deletion, of globals that were set, of a logout.
    public static var done: TestAnswer { TestAnswer { _ in .object([]) } }

    /// A record was created, or duplicated.
    public static func created(_ recordId: Int, modId: Int = 0) -> TestAnswer {
        TestAnswer { _ in .object(["recordId": .text("\(recordId)"), "modId": .text("\(modId)")]) }
    }

    /// A record was changed, or a container filled.
    public static func edited(modId: Int) -> TestAnswer { TestAnswer { _ in .object(["modId": .text("\(modId)")]) } }

    /// A script has run.
    public static func script(_ result: String?, error: FileMakerErrorCode = 0) -> TestAnswer {
        TestAnswer { _ in
            .object(["scriptResult": result.map(WireValue.text), "scriptError": .text("\(error.rawValue)")])
        }
    }

    /// The names of databases, layouts or scripts, whichever is asked for.
    public static func names(_ names: String...) -> TestAnswer {
        TestAnswer { context in
            let items = names.map { name -> WireValue in
                let isScript = context.request.operation == .scriptNames
                return .object(["name": .text(name), "isFolder": isScript ? .literal("false") : nil])
            }
            switch context.request.operation {
            case .databaseNames: return .object(["databases": .array(items)])
            case .layoutNames: return .object(["layouts": .array(items)])
            case .scriptNames: return .object(["scripts": .array(items)])
            default: throw Misuse(description: "names are asked for by databaseNames, layoutNames and scriptNames")
            }
        }
    }

    /// What the host is.
    public static func productInfo(_ info: DataAPI.Server.ProductInfo) -> TestAnswer {
        TestAnswer { _ in
            let info: WireValue = .object([
                "name": .text(info.name),
                "buildDate": info.buildDate.map(WireValue.text),
                "version": info.version.map(WireValue.text),
                "dateFormat": .text(info.dateFormat),
                "timeFormat": .text(info.timeFormat),
                "timeStampFormat": .text(info.timeStampFormat),
            ])
            return .object(["productInfo": info])
        }
    }

    /// The metadata of a layout with these fields, which are texts. A client asks for it before it writes a whole
    /// record whose type does not say which fields are read only.
    ///
    /// - Parameters:
    ///   - fields: fields that can be written.
    ///   - calculations: fields that cannot be written.
    public static func fields(_ fields: [String], calculations: [String] = []) -> TestAnswer {
        TestAnswer { _ in
            .object([
                "fieldMetaData": .array(
                    fields.map { .textField($0, "normal") } + calculations.map { .textField($0, "calculation") }
                ),
                "portalMetaData": .object([WireValue.Member]()),
            ])
        }
    }

    /// The content of a container, for a download. The URL of the container may be any of the server's host:
    /// `https://fms.test/Streaming/photo.jpg`.
    public static func content(_ content: Data, type: String = "application/octet-stream") -> TestAnswer {
        let headers: DataAPI.Headers = ["Content-Type": type, "Content-Length": "\(content.count)"]
        return TestAnswer(response: { _ in Response(headers: headers, body: content) })
    }

    /// The session that a login opens. This is the answer to a login that no other answer is for.
    static var session: TestAnswer {
        TestAnswer(response: { context in
            let token = "test-token-\(context.loginCount)"
            var response = Response(response: .object(["token": .text(token)]))
            response.headers["X-FM-Data-Access-Token"] = token
            return response
        })
    }
}

extension TestAnswer {
    /// What the host sends.
    struct Response: Sendable {
        var status = 200
        var headers: DataAPI.Headers = ["Content-Type": "application/json; charset=utf-8"]
        var body = Data()

        var parts: [DataAPI.ResponsePart] {
            [.head(status: status, headers: headers)] + (body.isEmpty ? [] : [.body(body)])
        }
    }

    /// FileMaker refuses what was asked for.
    struct Refusal: Error {
        let code: FileMakerErrorCode
    }

    /// The answer does not fit the request.
    struct Misuse: Error, CustomStringConvertible {
        let description: String
    }
}

extension TestAnswer.Response {
    /// The envelope around a response.
    init(response: WireValue) {
        let messages: WireValue = .array([.object(["code": .text("0"), "message": .text("OK")])])
        body = Data(WireValue.object(["response": response, "messages": messages]).json)
    }

    init(refusal code: FileMakerErrorCode) {
        status = Self.status(of: code)
        let name = code.name ?? "unknown error"
        let message: WireValue = .object([
            "code": .text("\(code.rawValue)"), "message": .text(name.prefix(1).uppercased() + name.dropFirst()),
        ])
        body = Data(WireValue.object(["messages": .array([message]), "response": .object([])]).json)
    }

    /// Source: FileMaker Data API Guide, "Error responses".
    private static func status(of code: FileMakerErrorCode) -> Int {
        switch code.rawValue {
        case 0: 200
        case 10, 957, 958, 960, 1705...1710: 400
        case 210...212, 214, 952, 1702, 1703: 401
        case 1700: 404
        case 1701: 503
        case 1704: 405
        default: 500
        }
    }
}

extension WireValue {
    /// The metadata of a field.
    fileprivate static func textField(_ name: String, _ type: String) -> WireValue {
        .object([
            "name": .text(name), "type": .text(type), "displayType": .text("editText"), "result": .text("text"),
            "global": .literal("false"), "autoEnter": .literal("false"), "fourDigitYear": .literal("false"),
            "maxRepeat": .number(1), "maxCharacters": .number(0), "notEmpty": .literal("false"),
            "numeric": .literal("false"), "timeOfDay": .literal("false"), "repetitionStart": .number(1),
            "repetitionEnd": .number(1),
        ])
    }
}
