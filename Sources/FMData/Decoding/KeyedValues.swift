import Foundation

/// The members of an object by their keys.
struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let context: DecodingContext
    private let object: UInt32
    private let mode: DecodingContext.Mode
    /// The mode of the members.
    private let inside: DecodingContext.Mode
    private let trace: KeyLookups.Trace
    /// The names under which a strategy of the user's makes the members known; `nil` for all others.
    private let names: [(name: String, value: UInt32)]?

    init(_ decoder: ValueDecoder) throws {
        let context = decoder.context
        let entry = context.entry(decoder.node)
        guard entry.kind == .object else {
            throw context.mismatch([String: Any].self, decoder.node)
        }
        self.context = context
        object = decoder.node
        mode = decoder.mode
        inside = mode.inside
        trace = context.lookups.trace(Key.self, for: object)
        names = mode == .fields && context.rules.contains(.customKeys) ? context.customNames(object) : nil
    }

    var codingPath: [any CodingKey] { context.codingPath(object) }

    var allKeys: [Key] {
        if let names { return names.compactMap { Key(stringValue: $0.name) } }
        let head = context.document[object]
        var keys: [Key] = []
        keys.reserveCapacity(Int(head.length))
        var seen: Set<String> = []
        var index = object + 1
        while index < head.link {
            let name = context.document.text(context.document[index])
            if !head.flags.contains(.irregular) || seen.insert(name).inserted, let key = Key(stringValue: name) {
                keys.append(key)
            }
            index = context.document.tape.end(of: index + 1)
        }
        return keys
    }

    // MARK: Finding members

    @inline(__always)
    private func find(_ key: Key) -> UInt32? {
        var name = key.stringValue
        if names == nil,
            let value = name.withUTF8({ context.lookups.value(named: $0, in: object, of: context.document, trace) })
        {
            return value
        }
        return context.value(named: name, in: object, mode, names)
    }

    @inline(__always)
    private func value(_ key: Key) throws -> UInt32 {
        guard let value = find(key) else { throw context.missing(key, object) }
        return value
    }

    /// The value, unless it is absent, `null` or, for a number, an empty field.
    @inline(__always)
    private func present(_ key: Key, emptyIsNil: Bool) -> UInt32? {
        guard let value = find(key) else { return nil }
        let entry = context.entry(value)
        if entry.kind == .null { return nil }
        if emptyIsNil, context.isEmptyField(entry, inside), context.rules.contains(.emptyIsNil) { return nil }
        return value
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        context.entry(try value(key)).kind == .null
    }

    // MARK: Values

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try context.bool(try value(key), inside) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try context.string(try value(key), inside) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try context.double(try value(key), inside) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try context.float(try value(key), inside) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, key) }

    @inline(__always)
    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ key: Key) throws -> Integer {
        try context.integer(type, try value(key), inside)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let value = find(key) { return try context.decode(type, value, inside) }
        guard let list = context.absentList(type, key, object, mode) else { throw context.missing(key, object) }
        return try context.decode(type, list, inside)
    }

    // MARK: Values that may be absent

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let value = present(key, emptyIsNil: true) else { return nil }
        return try context.boolIfAny(value, inside)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let value = present(key, emptyIsNil: false) else { return nil }
        return try context.string(value, inside)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let value = present(key, emptyIsNil: true) else { return nil }
        return try context.doubleIfAny(value, inside)
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let value = present(key, emptyIsNil: true) else { return nil }
        return try context.floatIfAny(value, inside)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try integerIfPresent(type, key) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try integerIfPresent(type, key) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try integerIfPresent(type, key) }

    @inline(__always)
    private func integerIfPresent<Integer: FixedWidthInteger>(_ type: Integer.Type, _ key: Key) throws -> Integer? {
        guard let value = present(key, emptyIsNil: true) else { return nil }
        return try context.integerIfAny(type, value, inside)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let value = present(key, emptyIsNil: false) else { return nil }
        return try context.decodeIfAny(type, value, inside)
    }

    // MARK: Containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(try value(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(try value(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(named: "super") }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        find(key).map(decoder) ?? superDecoder(named: key.stringValue)
    }

    private func superDecoder(named name: String) -> any Decoder {
        let found = context.value(named: name, in: object, mode, names)
        return decoder(found ?? context.add(.absent(parent: object, key: DecodingKey(name))))
    }

    private func decoder(_ node: UInt32) -> ValueDecoder {
        ValueDecoder(context: context, node: node, mode: inside)
    }
}
