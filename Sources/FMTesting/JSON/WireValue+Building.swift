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

    /// The value as JSON without white space.
    var compactJSON: String { String(decoding: json, as: UTF8.self) }
}
