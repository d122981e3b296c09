import Foundation

/// The index of the value for a key, and its entry.
private struct Member {
    var node: UInt32
    var entry: JSONTape.Entry
}

/// The members of an object by their keys.
///
/// A member at its expected place and of the expected kind is read with the tape and the memory of keys only.
struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let context: DecodingContext
    /// The tape of the context. It does not change while the container exists.
    private let tape: TapeView
    private let object: UInt32
    private let mode: DecodingContext.Mode
    /// The number of the type of keys; see ``KeyMemory/beginAsking(_:_:)``.
    private let asker: UInt8
    /// Whether the names on the tape need no conversion and do not repeat.
    private let isGuessable: Bool

    init(_ context: DecodingContext, _ object: UInt32, _ mode: DecodingContext.Mode) {
        self.context = context
        tape = context.view
        self.object = object
        self.mode = mode
        asker = context.keys.beginAsking(Key.self, object)
        isGuessable =
            !tape[object].flags.contains(.irregular)
            && !(mode == .fields && context.rules.contains(.customKeys))
    }

    private var inside: DecodingContext.Mode { mode.inside }

    var codingPath: [any CodingKey] { context.codingPath(object) }

    var allKeys: [Key] {
        var seen: Set<ExactName> = []
        if mode == .fields, context.rules.contains(.customKeys) {
            return context.customNames(object).list.compactMap {
                seen.insert(ExactName($0.name)).inserted ? Key(stringValue: $0.name) : nil
            }
        }
        if mode == .portals, !isGuessable {
            context.listed = object
            return context.listPortals(object).compactMap { Key(stringValue: $0) }
        }
        var keys: [Key] = []
        keys.reserveCapacity(Int(tape[object].length))
        var index = object + 1
        while index < tape[object].link {
            let name = tape.string(tape[index])
            if tape[index].flags.contains(.nonASCII) || tape[index].flags.contains(.escaped) { context.listed = object }
            if isGuessable || seen.insert(ExactName(name)).inserted, let key = Key(stringValue: name) {
                keys.append(key)
            }
            index = tape.end(of: index + 1)
        }
        return keys
    }

    // MARK: Finding members

    @inline(__always)
    private func find(_ key: Key) -> Member? {
        var name = key.stringValue
        if isGuessable, let node = name.withUTF8({ context.keys.guess($0, asker, object, tape) }) {
            return Member(node: node, entry: tape[node])
        }
        return search(name)
    }

    @inline(never)
    private func search(_ name: String) -> Member? {
        guard let node = context.value(named: name, in: object, mode, asker: asker) else { return nil }
        return Member(node: node, entry: context.entry(node))
    }

    @inline(__always)
    private func member(_ key: Key) throws -> Member {
        guard let member = find(key) else { throw missing(key) }
        return member
    }

    private func missing(_ key: Key) -> DecodingError {
        context.missing(key, object)
    }

    /// The member, unless it is absent, `null` or, for a number, an empty field.
    @inline(__always)
    private func present(_ key: Key, emptyIsNil: Bool) -> Member? {
        guard let member = find(key) else { return nil }
        if member.entry.kind == .null { return nil }
        if emptyIsNil, member.entry.kind == .string, member.entry.length == 0, inside == .fields,
            context.rules.contains(.emptyIsNil)
        {
            return nil
        }
        return member
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).entry.kind == .null }

    // MARK: Values

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let member = try member(key)
        return try context.bool(member.node, inside)
    }

    @inline(__always)
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try string(try member(key)) }
    @inline(__always)
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try double(try member(key)) }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        let member = try member(key)
        return try context.float(member.node, inside)
    }

    @inline(__always)
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
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, key) }

    @inline(__always)
    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ key: Key) throws -> Integer {
        try integer(type, try member(key))
    }

    @inline(__always)
    private func string(_ member: Member) throws -> String {
        if member.entry.kind == .string { return tape.string(member.entry) }
        return try context.string(member.node, inside)
    }

    @inline(__always)
    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ member: Member) throws -> Integer {
        if let small = member.entry.smallInteger, let number = Integer(exactly: small) { return number }
        return try context.integer(type, member.node, inside)
    }

    @inline(__always)
    private func double(_ member: Member) throws -> Double {
        if let small = member.entry.smallDouble { return small }
        return try context.double(member.node, inside)
    }

    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if mode == .portals, !isGuessable { try context.checkPortal(named: key.stringValue, in: object) }
        return try context.decode(type, try find(key)?.node ?? absent(type, key), inside)
    }

    /// The value that replaces a missing member; throws if there is none.
    private func absent(_ type: Any.Type, _ key: Key) throws -> UInt32 {
        guard let list = context.absentList(type, key, object, mode) else { throw missing(key) }
        return list
    }

    // MARK: Values that may be absent

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        return try context.boolIfAny(member.node, inside)
    }

    @inline(__always)
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let member = present(key, emptyIsNil: false) else { return nil }
        if member.entry.length == 0, member.entry.kind == .string, inside == .fields,
            context.rules.isSuperset(of: [.emptyIsNil, .emptyTextIsNil])
        {
            return nil
        }
        return try string(member)
    }

    @inline(__always)
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        if member.entry.kind == .number { return try double(member) }
        return try context.doubleIfAny(member.node, inside)
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        return try context.floatIfAny(member.node, inside)
    }

    @inline(__always)
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
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try integerIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try integerIfPresent(type, key) }

    @inline(__always)
    private func integerIfPresent<Integer: FixedWidthInteger>(_ type: Integer.Type, _ key: Key) throws -> Integer? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        if member.entry.kind == .number { return try integer(type, member) }
        return try context.integerIfAny(type, member.node, inside)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        if mode == .portals, !isGuessable { try context.checkPortal(named: key.stringValue, in: object) }
        guard let member = find(key) else { return nil }
        // A list is read even if its first repetition is missing.
        if member.entry.kind == .null, !context.isGap(member.node) || !(type is any ListValue.Type) { return nil }
        return try context.decodeIfAny(type, member.node, inside)
    }

    // MARK: Containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(named: "super") }

    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(named: key.stringValue) }

    /// A decoder for a member; for a missing one, a decoder of `null`.
    private func superDecoder(named name: String) -> any Decoder {
        let node = context.value(named: name, in: object, mode)
        return ValueDecoder(
            context: context,
            node: node ?? context.add(.absent(parent: object, key: DecodingKey(name))),
            mode: inside
        )
    }

    private func decoder(_ key: Key) throws -> ValueDecoder {
        ValueDecoder(context: context, node: try member(key).node, mode: inside)
    }
}
