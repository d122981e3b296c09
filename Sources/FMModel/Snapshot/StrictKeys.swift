/// A key by its text.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// A container of keys of which each has a meaning. A slip of the pen that is skipped in silence is a decision that nobody
    /// made.
    func strictContainer<Key: CodingKey & CaseIterable>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let known = Set(type.allCases.map(\.stringValue))
        let given = try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let unknown = given.filter({ !known.contains($0) }).min() {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription:
                        "unknown key \(Literal(unknown)); known are \(known.sorted().joined(separator: ", "))"
                )
            )
        }
        return try container(keyedBy: type)
    }
}

extension DecodingError {
    /// Where it happened and what, in words for a person who looks at the file.
    var inWords: String {
        switch self {
        case .keyNotFound(let key, let context): Self.words(context, "there is no \(Literal(key.stringValue))")
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            Self.words(context, context.debugDescription)
        @unknown default: "\(self)"
        }
    }

    private static func words(_ context: Context, _ what: String) -> String {
        var place = ""
        for key in context.codingPath {
            if let index = key.intValue {
                place += "[\(index)]"
            } else {
                place += (place.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return place.isEmpty ? what : "\(place): \(what)"
    }
}
