public import FMData
public import Foundation

/// A request that a ``TestTransport`` has received: what was asked for, and with what. It holds no password, token or
/// cookie.
///
///     expectNoDifference(transport.requests.last?.fields, ["City": "Oslo"])
public struct TestRequest: Sendable, Hashable {
    /// What the request asks for.
    public let operation: DataAPI.Operation
    /// The database; `nil` for calls of the server.
    public let database: String?
    /// The layout; `nil` for calls of a server or of a database.
    public let layout: String?
    /// The record; `nil` for calls that do not name one.
    public let recordId: Int?
    /// The script of a call that runs one by itself.
    public private(set) var script: String?
    /// The fields of a record that is created or changed, or the global fields that are set.
    public private(set) var fields = FieldData()
    /// The rows that are written, by portal.
    public private(set) var portals: [String: [FieldData]] = [:]
    /// The requests of a find.
    public private(set) var criteria: [[String: String]] = []
    /// The other parameters, by their names in a body (`limit`, also where the URL has `_limit`); arrays and objects as
    /// JSON.
    public private(set) var options: [String: String] = [:]
    /// The file that is uploaded.
    public private(set) var file: File?

    /// A file that is uploaded.
    public struct File: Sendable, Hashable {
        /// The field that it is for.
        public let field: String
        /// The name of the file.
        public let name: String
        /// The bytes.
        public let content: Data
    }

    init(_ request: DataAPI.OutgoingRequest, body: Data) {
        operation = request.operation
        database = request.database
        layout = request.layout
        recordId = request.recordId
        for (name, value) in request.query { options[Self.nameInBody(of: name)] = value }
        let names = request.pathTemplate.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        switch operation {
        case .logIn, .logOut, .oAuth, .webhooks, .downloadContainer: break
        case .uploadContainer:
            // …/records/{recordId}/containers/FIELD/{repetition}
            if names.count > 7 { file = File(field: names[7], form: body) }
        case .runScript:
            script = names.last
        default:
            for member in WireValue(reading: body)?.members ?? [] { take(member.name, member.value) }
        }
    }

    private mutating func take(_ name: String, _ value: WireValue) {
        switch name {
        case "fieldData", "globalFields": fields = FieldData(value)
        case "portalData":
            portals = Dictionary(
                value.members.map { ($0.name, $0.value.elements.map(FieldData.init)) },
                uniquingKeysWith: +
            )
        case "query":
            criteria = value.elements.map { request in
                Dictionary(
                    request.members.map { ($0.name, $0.value.text ?? $0.value.compactJSON) },
                    uniquingKeysWith: { first, _ in first }
                )
            }
        default: options[name] = value.text ?? value.compactJSON
        }
    }

    /// The server refuses underscores in a body, and in a URL the names without them.
    private static func nameInBody(of name: String) -> String { name.hasPrefix("_") ? String(name.dropFirst()) : name }
}

extension TestRequest: CustomStringConvertible {
    /// The operation, and the layout or the database: `findRecords on "Contacts"`.
    public var description: String {
        if let layout { return "\(operation) on \"\(layout)\"" }
        return database.map { "\(operation) in \"\($0)\"" } ?? "\(operation)"
    }
}

extension FieldData {
    /// The members of a JSON object.
    init(_ object: WireValue) { self.init(object.members.map { ($0.name, $0.value.fieldValue) }) }
}

extension TestRequest.File {
    /// The file in a form of one part.
    fileprivate init?(field: String, form: Data) {
        guard let head = form.range(of: Data("\r\n\r\n".utf8)),
            let end = form.range(of: Data("\r\n--".utf8), options: .backwards, in: head.upperBound..<form.endIndex)
        else { return nil }
        let lines = String(decoding: form[..<head.lowerBound], as: UTF8.self)
        guard let name = lines.firstMatch(of: /filename="((?:\\.|[^"\\])*)"/) else { return nil }
        self.field = field
        self.name = String(name.1).replacing(/\\(.)/) { String($0.1) }
        content = Data(form[head.upperBound..<end.lowerBound])
    }
}
