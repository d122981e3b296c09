/// A JSON key whose case differs between servers: `webhookID` is `webHookID` on some.
struct LowercasedKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The members of an object by their keys in lower case; of two that differ in case only, the last.
struct LowercasedMembers {
    private let container: KeyedDecodingContainer<LowercasedKey>
    private let keys: [String: LowercasedKey]

    init(_ decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: LowercasedKey.self)
        keys = Dictionary(container.allKeys.map { ($0.stringValue.lowercased(), $0) }) { $1 }
    }

    /// The value of the first of these members that exists and has this type.
    func first<Value: Decodable>(_ names: String..., as type: Value.Type = Value.self) -> Value? {
        for name in names {
            guard let key = keys[name], let value = try? container.decode(Value.self, forKey: key) else { continue }
            return value
        }
        return nil
    }

    /// The first of these members that is a whole number or a text of one.
    func integer(_ names: String...) -> Int? {
        for name in names {
            if let number = first(name, as: Int.self) ?? first(name, as: String.self).flatMap(Int.init) {
                return number
            }
        }
        return nil
    }
}
