/// The `Decoder` over one value. As small as an existential holds without a box; everything else is in the context.
struct ValueDecoder: Decoder {
    let context: DecodingContext
    let node: UInt32
    let mode: DecodingContext.Mode

    var codingPath: [any CodingKey] { context.codingPath(node) }
    var userInfo: [CodingUserInfoKey: Any] { context.userInfo }

    /// The same value under other rules.
    func with(_ mode: DecodingContext.Mode) -> ValueDecoder {
        ValueDecoder(context: context, node: node, mode: mode)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try context.members(of: node, by: type, mode)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try UnkeyedValues(self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        let entry = context.entry(node)
        if entry.kind == .null { return true }
        guard context.isEmptyField(entry, mode), context.rules.contains(.emptyIsNil) else { return false }
        // Only an optional of the standard library is meant; a type of one's own that asks is told what stands there.
        return (context.expectedType as? any OptionalValue.Type)?.emptyTextIsNil ?? false
    }

    func decode(_ type: Bool.Type) throws -> Bool { try context.bool(node, mode) }
    func decode(_ type: String.Type) throws -> String { try context.string(node, mode) }
    func decode(_ type: Double.Type) throws -> Double { try context.double(node, mode) }
    func decode(_ type: Float.Type) throws -> Float { try context.float(node, mode) }
    func decode(_ type: Int.Type) throws -> Int { try context.integer(type, node, mode) }
    func decode(_ type: Int8.Type) throws -> Int8 { try context.integer(type, node, mode) }
    func decode(_ type: Int16.Type) throws -> Int16 { try context.integer(type, node, mode) }
    func decode(_ type: Int32.Type) throws -> Int32 { try context.integer(type, node, mode) }
    func decode(_ type: Int64.Type) throws -> Int64 { try context.integer(type, node, mode) }
    func decode(_ type: UInt.Type) throws -> UInt { try context.integer(type, node, mode) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try context.integer(type, node, mode) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try context.integer(type, node, mode) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try context.integer(type, node, mode) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try context.integer(type, node, mode) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type) throws -> Int128 { try context.integer(type, node, mode) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type) throws -> UInt128 { try context.integer(type, node, mode) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try context.decode(type, node, mode) }
}
