// What is thrown. No text here holds a value: the values of fields are nobody's business but the caller's.
extension DecodingContext {
    func mismatch(_ type: Any.Type, _ node: UInt32) -> DecodingError {
        let kind = entry(node).kind
        let context = DecodingError.Context(
            codingPath: codingPath(node),
            debugDescription: "Expected \(type), found \(kind.name)."
        )
        return kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func emptyField(_ type: Any.Type, _ node: UInt32) -> DecodingError {
        DecodingError.valueNotFound(
            type,
            DecodingError.Context(
                codingPath: codingPath(node),
                debugDescription: "The field is empty, and \(type) is not optional."
            )
        )
    }

    func unrepresentable(_ type: Any.Type, _ node: UInt32) -> DecodingError {
        corrupted(type, node, "The number does not fit \(type).")
    }

    func corrupted(_ type: Any.Type, _ node: UInt32, _ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath(node), debugDescription: reason))
    }

    func missing(_ key: some CodingKey, _ object: UInt32) -> DecodingError {
        DecodingError.keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath(object),
                debugDescription: "There is no \"\(key.stringValue)\" here. Only fields on the layout are sent."
            )
        )
    }
}

extension JSONTape.Entry.Kind {
    var name: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .key, .string: "a text"
        case .number: "a number"
        case .true, .false: "a boolean"
        case .null: "null"
        }
    }
}
