/// The elements of an array, in order.
struct UnkeyedValues: UnkeyedDecodingContainer {
    private let context: DecodingContext
    /// The array, or the list that is not on the tape.
    private let node: UInt32
    /// The next element; for a list that is not on the tape, its position.
    private var next: UInt32
    // The properties are small enough for an existential to hold the container without a box.
    private var index: UInt32 = 0
    private let mode: DecodingContext.Mode

    init(_ decoder: ValueDecoder) throws {
        context = decoder.context
        if context.isOnTape(decoder.node), context.document[decoder.node].kind == .array {
            node = decoder.node
            next = node + 1
        } else {
            guard let list = context.filledList(decoder.node, decoder.mode, for: decoder.type) else {
                throw context.mismatch([Any].self, decoder.node)
            }
            node = list
            next = 0
        }
        mode = decoder.elementMode
    }

    var currentIndex: Int { Int(index) }

    var codingPath: [any CodingKey] { context.codingPath(node) }

    var count: Int? {
        context.list(node)?.count ?? Int(context.document[node].length)
    }

    var isAtEnd: Bool {
        if let list = context.list(node) { return Int(next) >= list.count }
        return next >= context.document[node].link
    }

    // MARK: Elements

    /// The next element, without advancing.
    private func peek(_ type: Any.Type) throws -> UInt32 {
        guard !isAtEnd else {
            let path = codingPath + [DecodingKey(index: currentIndex)]
            throw DecodingError.valueNotFound(type, DecodingError.Context(codingPath: path, cause: .exhausted))
        }
        return context.list(node)?[Int(next)] ?? next
    }

    private mutating func advance() {
        next = context.list(node) == nil ? context.document.tape.end(of: next) : next + 1
        index += 1
    }

    /// If decoding an element fails, the container does not advance.
    @inline(__always)
    private mutating func take<T>(_ type: T.Type, _ make: (ValueDecoder) throws -> T) throws -> T {
        let value = try make(ValueDecoder(context: context, node: try peek(type), mode: mode, type: type))
        advance()
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard context.entry(try peek(Any?.self)).kind == .null else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try take(type) { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try take(type) { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try take(type) { try $0.decode(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try take(type) { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try take(type) { try $0.decode(type) } }

    private mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
        try take(type) { try $0.context.integer(type, $0.node, $0.mode) }
    }

    // MARK: Containers

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try take(KeyedDecodingContainer<NestedKey>.self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try take((any Decoder).self) { $0 }
    }
}
