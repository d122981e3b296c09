import Foundation
import NIOCore
import NIOFoundationCompat

/// A field that a request names, in any role: what "Field is missing" (102) and the validation codes can be about.
struct NamedField: Hashable, Sendable {
    var name: String
    /// Whether it was sent with an empty value, so that a field that must not be empty is not satisfied.
    var isEmpty = false
    /// Whether it was sent with what looks like a timestamp, as a `Date` is written.
    var isTimestamp = false
}

/// The portals that a request names: what "Field is missing" can be about as well.
struct NamedPortals: Hashable, Sendable {
    /// Those asked for, and those written to, each once.
    var names: [String]
    /// The layout whose portals those asked for are; `nil` for the layout of the request itself.
    var layout: String?
}

extension DataAPIRequest {
    /// The layout that the request goes through; `nil` when it goes through none.
    var layout: String? { path.layout }

    /// Whether ``namedFields`` and ``namedPortals`` can be of use: known without reading what is sent. Plain reads of records
    /// by position or id name none.
    var mayNameFields: Bool {
        guard case .none = body else { return true }
        return path.container != nil || query.contains { $0.name == "_sort" || $0.name == "portal" }
    }

    /// The portals that the request names, each once, read from what is sent.
    var namedPortals: NamedPortals {
        let parameters = Dictionary(query.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        var asked = parameters["portal"].flatMap { try? JSONSerialization.object(ByteBuffer(string: $0)) } as? [String]
        var layout = parameters["layout.response"]
        var written: [String] = []
        if case .json(let bytes) = body, let object = try? JSONSerialization.object(bytes) as? [String: Any] {
            asked = object["portal"] as? [String]
            layout = object["layout.response"] as? String
            written = (object["portalData"] as? [String: Any] ?? [:]).keys.sorted()
        }
        var seen: Set<String> = []
        return NamedPortals(names: ((asked ?? []) + written).filter { seen.insert($0).inserted }, layout: layout)
    }

    /// The fields that the request names, each once: criteria, sort orders, what is written to the record and to portal
    /// rows, globals, the container of an upload. Read from what is sent, so no endpoint can forget one; asked for only
    /// when a call fails.
    var namedFields: [NamedField] {
        var fields = path.container.map { [NamedField(name: $0)] } ?? []
        for parameter in query where parameter.name == "_sort" {
            fields += Self.sortFields((try? JSONSerialization.object(ByteBuffer(string: parameter.value))) as Any)
        }
        if case .json(let bytes) = body, let object = try? JSONSerialization.object(bytes) as? [String: Any] {
            for request in object["query"] as? [[String: Any]] ?? [] {
                fields += Self.fields(of: request).filter { $0.name != "omit" }
            }
            fields += Self.sortFields(object["sort"] as Any)
            fields += Self.fields(of: object["globalFields"] as? [String: Any] ?? [:])
            fields += Self.fields(of: object["fieldData"] as? [String: Any] ?? [:]).filter {
                $0.name != "deleteRelated"
            }
            let portals = object["portalData"] as? [String: Any] ?? [:]
            for (_, rows) in portals.sorted(by: { $0.key < $1.key }) {
                for row in rows as? [[String: Any]] ?? [] {
                    fields += Self.fields(of: row).filter { $0.name != "recordId" && $0.name != "modId" }
                }
            }
        }
        var seen: Set<String> = []
        return fields.filter { seen.insert($0.name).inserted }
    }

    private static func fields(of object: [String: Any]) -> [NamedField] {
        object.sorted { $0.key < $1.key }.map { name, value in
            let text = value as? String
            return NamedField(name: name, isEmpty: text == "", isTimestamp: text?.looksLikeTimestamp == true)
        }
    }

    private static func sortFields(_ json: Any) -> [NamedField] {
        (json as? [[String: Any]] ?? []).compactMap { $0["fieldName"] as? String }.map { NamedField(name: $0) }
    }
}

extension String {
    /// A date of whatever form, a space or a `T`, and hours, minutes and seconds.
    fileprivate var looksLikeTimestamp: Bool {
        guard let separator = lastIndex(where: { $0 == " " || $0 == "T" }),
            self[..<separator].contains(where: \.isNumber)
        else { return false }
        return FMTime(self[index(after: separator)...], format: .us) != nil
    }
}

extension DataAPIPath {
    /// The layout in `/databases/{database}/layouts/{layout}/…`.
    fileprivate var layout: String? {
        segments.count > 3 && segments[0] == "databases" && segments[2] == "layouts" ? segments[3] : nil
    }

    /// The field in `…/records/{id}/containers/{field}/…`.
    fileprivate var container: String? {
        layout != nil && segments.count > 7 && segments[6] == "containers" ? segments[7] : nil
    }
}

extension JSONSerialization {
    static func object(_ bytes: ByteBuffer) throws -> Any {
        try jsonObject(with: Data(bytes.readableBytesView), options: .fragmentsAllowed)
    }
}
