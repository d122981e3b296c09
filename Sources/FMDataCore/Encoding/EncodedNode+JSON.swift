import Foundation

extension EncodedNode {
    /// Fills the node with the JSON that the user's own encoder wrote.
    ///
    /// - Parameter names: new names for members, by their old names.
    func take(
        _ json: Data,
        from type: Any.Type,
        renaming names: [String: String],
        _ path: [any CodingKey]
    ) throws(EncodingFailure) {
        do {
            try FMDecoder().decode(WrittenJSON.self, from: json).fill(self, renaming: names)
        } catch {
            throw EncodingFailure(
                path: path.map(\.stringValue),
                reason: "what the encoder of the configuration made of \(type) is no JSON",
                underlying: error
            )
        }
    }
}

/// Any JSON value, with its digits and the order of its members.
private enum WrittenJSON: Decodable {
    case null
    case value(FieldValue)
    case bool(Bool)
    case object([(name: String, value: WrittenJSON)])
    case array([WrittenJSON])

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: WireKey.self) {
            self = .object(
                try members.allKeys.map { ($0.stringValue, try members.decode(WrittenJSON.self, forKey: $0)) }
            )
        } else if let elements = try? decoder.singleValueContainer().decode([WrittenJSON].self) {
            self = .array(elements)
        } else if let bool = try? decoder.singleValueContainer().decode(Bool.self) {
            self = .bool(bool)
        } else if try decoder.singleValueContainer().decodeNil() {
            self = .null
        } else {
            self = .value(try decoder.singleValueContainer().decode(FieldValue.self))
        }
    }

    func fill(_ node: EncodedNode, renaming names: [String: String] = [:]) {
        switch self {
        case .null: node.content = .literal("null")
        case .bool(let bool): node.content = .literal(bool ? "true" : "false")
        case .value(.number(let number)):
            node.content = NumberText.isBinary(number.literal) ? .literal(number.literal) : .text(number.literal)
        case .value(.text(let text)): node.content = .text(text)
        case .array(let elements):
            node.beginArray()
            for element in elements { element.fill(node.element()) }
        case .object(let members):
            node.beginObject()
            for (name, value) in members { value.fill(node.member(names[name] ?? name)) }
        }
    }
}

extension JSONEncoder {
    /// The names that this encoder gives to a row's ids, with the names that the Data API requires for them.
    func identityNames() throws -> [String: String] {
        var names: [String: String] = [:]
        for key in RowIdentity.CodingKeys.allCases {
            let json = try encode(RowIdentity(key: key))
            for name in try FMDecoder().decode(FieldData.self, from: json).names { names[name] = key.stringValue }
        }
        return names
    }
}

/// A row with only one of its ids.
private struct RowIdentity: Encodable {
    enum CodingKeys: CodingKey, CaseIterable {
        case recordId, modId
    }

    var key: CodingKeys

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(1, forKey: key)
    }
}
