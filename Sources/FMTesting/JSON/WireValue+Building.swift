import FMData

extension WireValue {
    /// The value of a member; `nil` if there is none, and for other values.
    subscript(name: String) -> WireValue? { members.first { $0.name == name }?.value }

    /// An object with these members, without those that are `nil`.
    static func object(_ members: KeyValuePairs<String, WireValue?>) -> WireValue {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }

    /// A whole number.
    static func number(_ number: Int) -> WireValue { .literal(String(number)) }

    /// The whole number that a host sends as a number or as a text; `nil` for other values.
    var int: Int? {
        switch self {
        case .literal(let text), .text(let text): Int(text)
        case .array, .object: nil
        }
    }

    /// The value as JSON without white space.
    var compactJSON: String { String(decoding: json, as: UTF8.self) }
}
