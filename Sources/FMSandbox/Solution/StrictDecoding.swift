/// Any key of any object.
struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}

extension Decoder {
    /// A keyed container that holds no key but those of `Keys`: a misspelt key in a solution file is an error that names
    /// its place, not a setting that silently does nothing.
    func strictContainer<Keys: CodingKey & CaseIterable>(
        keyedBy keys: Keys.Type
    ) throws -> KeyedDecodingContainer<Keys> {
        let known = Set(Keys.allCases.map(\.stringValue))
        if let stranger = try container(keyedBy: AnyKey.self).allKeys.first(where: { !known.contains($0.stringValue) })
        {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath + [stranger],
                    debugDescription: "unknown key; known are \(known.sorted().joined(separator: ", "))"
                )
            )
        }
        return try container(keyedBy: keys)
    }
}

extension KeyedDecodingContainer {
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key, default value: Value) throws -> Value {
        try decodeIfPresent(type, forKey: key) ?? value
    }
}
