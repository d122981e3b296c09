/// A key of any name.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// A container that has only known keys. A misspelt key is an error, because ignoring it silently would also ignore
    /// the user's decision.
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
    /// The place and the error in words, for a reader of the file.
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
