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
    /// A keyed container with no keys except those of `Keys`. A misspelt key in a solution file is an error with its
    /// place, instead of being ignored silently.
    func strictContainer<Keys: CodingKey & CaseIterable>(
        keyedBy keys: Keys.Type
    ) throws -> KeyedDecodingContainer<Keys> {
        let known = Set(Keys.allCases.map(\.stringValue))
        if let stranger = try container(keyedBy: AnyKey.self).allKeys.first(where: { !known.contains($0.stringValue) })
        {
            let meant = known.sorted().nearest(to: stranger.stringValue).map { " did you mean \($0)?" } ?? ""
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath + [stranger],
                    debugDescription: "unknown key;\(meant) known are \(known.sorted().joined(separator: ", "))"
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

    /// One of the values that an enum lists; nil if the key is absent. Any other value throws an error with the list.
    func decodeChoiceIfPresent<Choice: RawRepresentable & CaseIterable>(
        _ type: Choice.Type,
        forKey key: Key
    ) throws -> Choice? where Choice.RawValue: Decodable {
        do {
            guard let raw = try decodeIfPresent(Choice.RawValue.self, forKey: key) else { return nil }
            if let choice = Choice(rawValue: raw) { return choice }
        } catch DecodingError.typeMismatch {
            // A value of another type is not a choice either; fall through to the error.
        }
        let choices = SolutionError.choices(Choice.self)
        throw DecodingError.typeMismatch(
            type,
            DecodingError.Context(codingPath: codingPath + [key], debugDescription: "expected \(choices)")
        )
    }

    /// Like ``decodeChoiceIfPresent(_:forKey:)``, but the key must be present.
    func decodeChoice<Choice: RawRepresentable & CaseIterable>(
        _ type: Choice.Type,
        forKey key: Key
    ) throws -> Choice where Choice.RawValue: Decodable {
        if let choice = try decodeChoiceIfPresent(type, forKey: key) { return choice }
        throw DecodingError.keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: ""))
    }
}
