/// The `Encoder` that fills one node.
struct ValueEncoder: Encoder {
    let context: EncodingContext
    let node: EncodedNode
    let mode: EncodingMode
    let codingPath: [any CodingKey]
    /// Whether a property that is `nil` is left out, as in ``RecordChanges``.
    var leavesOutNil = false

    var userInfo: [CodingUserInfoKey: Any] { context.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedFields(self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedFields(self) }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension ValueEncoder: SingleValueEncodingContainer {
    func encodeNil() { context.encodeNil(into: node, mode) }
    func encode(_ value: Bool) { context.encode(value, into: node, mode) }
    func encode(_ value: String) { context.encode(value, into: node, mode) }
    func encode(_ value: Double) throws { try context.encode(value, into: node, codingPath) }
    func encode(_ value: Float) throws { try context.encode(value, into: node, codingPath) }
    func encode(_ value: Int) { integer(value) }
    func encode(_ value: Int8) { integer(value) }
    func encode(_ value: Int16) { integer(value) }
    func encode(_ value: Int32) { integer(value) }
    func encode(_ value: Int64) { integer(value) }
    func encode(_ value: UInt) { integer(value) }
    func encode(_ value: UInt8) { integer(value) }
    func encode(_ value: UInt16) { integer(value) }
    func encode(_ value: UInt32) { integer(value) }
    func encode(_ value: UInt64) { integer(value) }
    func encode(_ value: Int128) { integer(value) }
    func encode(_ value: UInt128) { integer(value) }

    func encode<T: Encodable>(_ value: T) throws {
        try context.encode(value, into: node, mode, codingPath)
    }

    private func integer(_ value: some BinaryInteger) {
        context.encode(value, into: node, mode)
    }
}

/// The members of an object.
struct KeyedFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let encoder: ValueEncoder

    init(_ encoder: ValueEncoder) {
        self.encoder = encoder
        encoder.node.beginObject()
    }

    var codingPath: [any CodingKey] { encoder.codingPath }

    private func member(_ key: some CodingKey) -> ValueEncoder {
        let name = encoder.context.name(key.stringValue, encoder.mode)
        return ValueEncoder(
            context: encoder.context,
            node: encoder.node.member(name),
            mode: encoder.mode.member(name),
            codingPath: encoder.codingPath + [key]
        )
    }

    /// In a record `nil` clears the field, or leaves it out, as the options say. The ids of a row are left out if they
    /// are `nil`, because a new row must not have any.
    func encodeNil(forKey key: Key) {
        if encoder.mode.holdsFields {
            if encoder.mode != .fields, DataAPIName.isIdentity(key.stringValue) { return }
        }
        member(key).encodeNil()
    }

    func encode(_ value: Bool, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Double, forKey key: Key) throws { try member(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try member(key).encode(value) }
    func encode(_ value: Int, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Int8, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Int16, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Int32, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Int64, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt8, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt16, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt32, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt64, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Int128, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt128, forKey key: Key) { member(key).encode(value) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try member(key).encode(value) }

    // MARK: Values that may be absent

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try encodeOptional(value, key) }

    private func encodeOptional(_ value: (some Encodable)?, _ key: Key) throws {
        if let value {
            try member(key).encodeAny(value)
        } else if encoder.mode.holdsFields, !encoder.leavesOutNil {
            encodeNil(forKey: key)
        }
    }

    // MARK: Containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        member(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        member(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { member(DecodingKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

extension ValueEncoder {
    /// Encodes a value of a static type that may be one of the simple types.
    fileprivate func encodeAny(_ value: some Encodable) throws {
        switch value {
        case let value as Bool: encode(value)
        case let value as Double: try encode(value)
        case let value as Float: try encode(value)
        case let value as any BinaryInteger: integer(value)
        default: try encode(value)
        }
    }
}

/// The elements of an array.
struct UnkeyedFields: UnkeyedEncodingContainer {
    private let encoder: ValueEncoder

    init(_ encoder: ValueEncoder) {
        self.encoder = encoder
        encoder.node.beginArray()
    }

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.count }

    private func element() -> ValueEncoder {
        let path = encoder.codingPath + [DecodingKey(index: count)]
        return ValueEncoder(
            context: encoder.context,
            node: encoder.node.element(),
            mode: encoder.mode.element,
            codingPath: path
        )
    }

    func encodeNil() { element().encodeNil() }
    func encode(_ value: Bool) { element().encode(value) }
    func encode(_ value: String) { element().encode(value) }
    func encode(_ value: Double) throws { try element().encode(value) }
    func encode(_ value: Float) throws { try element().encode(value) }
    func encode(_ value: Int) { element().encode(value) }
    func encode(_ value: Int8) { element().encode(value) }
    func encode(_ value: Int16) { element().encode(value) }
    func encode(_ value: Int32) { element().encode(value) }
    func encode(_ value: Int64) { element().encode(value) }
    func encode(_ value: UInt) { element().encode(value) }
    func encode(_ value: UInt8) { element().encode(value) }
    func encode(_ value: UInt16) { element().encode(value) }
    func encode(_ value: UInt32) { element().encode(value) }
    func encode(_ value: UInt64) { element().encode(value) }
    func encode(_ value: Int128) { element().encode(value) }
    func encode(_ value: UInt128) { element().encode(value) }
    func encode<T: Encodable>(_ value: T) throws { try element().encode(value) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        element().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
    func superEncoder() -> any Encoder { element() }
}
