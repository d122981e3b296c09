/// A JSON value as it is on the wire: numbers keep their digits, objects keep the order of their keys.
///
/// Foundation's parser turns every number into a `Double` or a `Decimal` and every object into an unordered dictionary.
/// Both lose what a Data API server must keep (numbers of more than 17 digits, `response` before `messages`).
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The digits as they were written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    static func int(_ value: Int) -> JSONValue { .number(String(value)) }

    var object: JSONObject? { if case .object(let object) = self { object } else { nil } }
    var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }
    var string: String? { if case .string(let string) = self { string } else { nil } }

    /// The value as the JavaScript of the real engine parses it: a repeated key of an object keeps its first position
    /// and has its last value.
    var withoutRepeatedKeys: JSONValue {
        switch self {
        case .null, .bool, .number, .string: return self
        case .array(let elements): return .array(elements.map(\.withoutRepeatedKeys))
        case .object(let object):
            var places: [String: Int] = [:]
            var members: [JSONObject.Member] = []
            for member in object.members {
                let value = member.value.withoutRepeatedKeys
                if let place = places[member.key] {
                    members[place].value = value
                } else {
                    places[member.key] = members.count
                    members.append(JSONObject.Member(key: member.key, value: value))
                }
            }
            return .object(JSONObject(members: members))
        }
    }

    /// The text of a string or the digits of a number. The Data API accepts either for counts and criteria.
    var scalarText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .null, .bool, .array, .object: nil
        }
    }
}

/// The members of a JSON object in the order in which they were written. The last value of a repeated key counts, as in
/// every parser that the Data API is used with.
struct JSONObject: Equatable, Sendable, ExpressibleByDictionaryLiteral {
    struct Member: Equatable, Sendable {
        var key: String
        var value: JSONValue
    }

    private(set) var members: [Member]

    init(members: [Member] = []) { self.members = members }

    init(dictionaryLiteral elements: (String, JSONValue)...) {
        members = elements.map { Member(key: $0.0, value: $0.1) }
    }

    var keys: [String] { members.map(\.key) }
    var isEmpty: Bool { members.isEmpty }

    subscript(key: String) -> JSONValue? {
        get { members.last { $0.key == key }?.value }
        set {
            members.removeAll { $0.key == key }
            if let newValue { members.append(Member(key: key, value: newValue)) }
        }
    }

    /// Adds a member at the end without checking for an earlier one with the same key.
    mutating func append(_ key: String, _ value: JSONValue) {
        members.append(Member(key: key, value: value))
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByBooleanLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(members: elements.map { JSONObject.Member(key: $0.0, value: $0.1) }))
    }
}
