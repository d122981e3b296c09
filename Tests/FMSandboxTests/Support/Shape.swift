@testable import FMSandbox

/// The shape of a JSON value: its keys, types and nesting, without its content.
indirect enum Shape: Hashable, CustomStringConvertible {
    case null, bool, number, text
    /// The distinct shapes of the elements.
    case list(Set<Shape>)
    /// An object whose keys are defined by the protocol.
    case object([String: Shape])
    /// An object whose keys are names from the solution (fields, portals), with the distinct shapes of its values.
    case names(Set<Shape>)

    init(_ value: JSONValue) { self.init(value, within: nil) }

    private init(_ value: JSONValue, within owner: String?) {
        switch value {
        case .null: self = .null
        case .bool: self = .bool
        case .number: self = .number
        case .string: self = .text
        case .array(let elements):
            self = .list(Set(elements.map { Shape($0, within: owner == "portal" ? "row" : nil) }))
        case .object(let object):
            switch owner {
            case "fieldData", "portalMetaData": self = .names(Set(object.members.map { Shape($0.value) }))
            case "portalData": self = .names(Set(object.members.map { Shape($0.value, within: "portal") }))
            case "row": self = Self.row(object)
            default:
                let members = object.members.map { ($0.key, Shape($0.value, within: $0.key)) }
                self = .object(Dictionary(members) { _, last in last })
            }
        }
    }

    /// A portal row: two keys of the protocol and the fields.
    private static func row(_ object: JSONObject) -> Shape {
        let (own, fields) = (
            object.members.filter { ["recordId", "modId"].contains($0.key) },
            object.members.filter { !["recordId", "modId"].contains($0.key) }
        )
        var members = Dictionary(own.map { ($0.key, Shape($0.value)) }) { _, last in last }
        members["fields"] = .names(Set(fields.map { Shape($0.value) }))
        return .object(members)
    }

    /// Whether a server that answers `self` could also have sent `other`: every object has the same keys, and each
    /// element of a list has an equal one here.
    func covers(_ other: Shape) -> Bool {
        switch (self, other) {
        case (.list(let own), .list(let others)), (.names(let own), .names(let others)):
            others.allSatisfy { other in own.contains { $0.covers(other) } }
        case (.object(let own), .object(let others)):
            own.keys == others.keys && own.allSatisfy { key, shape in others[key].map(shape.covers) ?? false }
        default: self == other
        }
    }

    var description: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .number: "number"
        case .text: "text"
        case .list(let shapes): "[\(shapes.map(\.description).sorted().joined(separator: " | "))]"
        case .names(let shapes): "{*: \(shapes.map(\.description).sorted().joined(separator: " | "))}"
        case .object(let members):
            "{\(members.map { "\($0.key): \($0.value)" }.sorted().joined(separator: ", "))}"
        }
    }
}
