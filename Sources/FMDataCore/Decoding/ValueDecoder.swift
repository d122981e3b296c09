/// The `Decoder` of one value. It is small enough for an existential to hold it without a box; all other state is in
/// the context.
struct ValueDecoder: Decoder {
    package let context: DecodingContext
    let node: UInt32
    package let mode: DecodingContext.Mode
    /// The type that is decoded from the value; `Never` if a type requested the decoder itself, for example by
    /// `superDecoder()`.
    let type: any Any.Type

    init(context: DecodingContext, node: UInt32, mode: DecodingContext.Mode, type: any Any.Type = Never.self) {
        self.context = context
        self.node = node
        self.mode = mode
        self.type = type
    }

    var codingPath: [any CodingKey] { context.codingPath(node) }
    var userInfo: [CodingUserInfoKey: Any] { context.userInfo }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try context.members(of: node, by: type, mode)
    }

    package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try UnkeyedValues(self)
    }

    package func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// The rules for the elements of a list. A list type of the standard library has elements of one type only and
    /// tries no alternatives.
    var elementMode: DecodingContext.Mode {
        // Rows are objects, whose members have their own rules.
        guard mode == .fields, !context.holdsObjects(node) else { return mode }
        return type is any ListValue.Type ? .fields : .kinds
    }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        let entry = context.entry(node)
        if entry.kind == .null { return true }
        guard entry.kind == .string, mode.isField, context.rules.contains(.emptyIsNil) else { return false }
        guard entry.length == 0 else { return mode == .fields && context.lacksNumber(type, node) }
        // Only an optional of the standard library is meant. Other types that ask get the actual value.
        guard let type = type as? any OptionalValue.Type else { return false }
        return type.emptyTextIsNil || context.rules.contains(.emptyTextIsNil)
    }

    /// The rules for a value that a type reads from the decoder by itself. A type that only wraps its content, such as
    /// an optional or an enum with raw values, keeps the rules; any other type may be trying alternatives.
    private func mode(for wanted: any Any.Type) -> DecodingContext.Mode {
        guard mode == .fields, type != wanted else { return mode }
        return type is any OptionalValue.Type || type is any RawRepresentable.Type ? .fields : .kinds
    }

    package func decode(_ type: Bool.Type) throws -> Bool { try context.bool(node, mode(for: type)) }
    package func decode(_ type: Float.Type) throws -> Float { try context.float(node, mode(for: type)) }

    package func decode(_ type: String.Type) throws -> String {
        let entry = context.entry(node)
        if entry.kind == .string { return context.document.text(entry) }
        return try context.string(node, mode(for: type))
    }

    package func decode(_ type: Double.Type) throws -> Double {
        if let small = context.entry(node).smallDouble { return small }
        return try context.double(node, mode(for: type))
    }

    package func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    package func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    package func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    package func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    package func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    package func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    package func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    package func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    package func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    package func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    package func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    package func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
    package func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try context.decode(type, node, mode(for: type))
    }

    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
        if let small = context.entry(node).smallInteger, let number = Integer(exactly: small) { return number }
        return try context.integer(type, node, mode(for: type))
    }
}
