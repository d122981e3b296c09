import Foundation

/// The index of the value that a key means, and its entry.
private struct Member {
    var node: UInt32
    var entry: JSONTape.Entry
}

/// The members of an object by their keys.
///
/// Made of plain values only; see ``ContextSlot``. A member that is where it is expected, and what it is expected to be, is
/// read without touching the context.
struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let slot: UnsafeMutablePointer<ContextSlot>
    private let trace: UnsafeMutablePointer<KeyTrace>
    private let generation: UInt32
    private let object: UInt32
    private let end: UInt32
    private let isFlat: Bool
    /// Whether names stand for themselves.
    private let isGuessable: Bool
    /// Whether the reader vouches for the keys of the object, and keys are told apart by a byte.
    private let isRecallable: Bool
    private let mode: DecodingContext.Mode
    /// The mode of the members.
    private let inside: DecodingContext.Mode

    init(_ decoder: ValueDecoder) throws {
        let context = decoder.context
        object = decoder.node
        guard context.isOnTape(object), context.view[object].kind == .object else {
            throw context.mismatch([String: Any].self, object)
        }
        slot = context.slot.pointer
        generation = slot.pointee.generation
        trace = context.traces.trace(Key.self, object, context.document.keyMemory.epoch)
        let head = context.view[object]
        end = head.link
        isFlat = head.isFlat(at: object)
        mode = decoder.mode
        inside = mode.inside
        isGuessable =
            !head.flags.contains(.irregular) && !(mode == .fields && context.rules.contains(.customKeys))
        isRecallable = isGuessable && isFlat && Int(end) <= JSONKeyMemory.limit && KeyedValues.hasByteKeys
    }

    // MARK: Context

    /// The tape, unless the value is gone.
    @inline(__always)
    private var tape: TapeView? {
        slot.pointee.generation == generation ? slot.pointee.tape : nil
    }

    /// The context, unless the value is gone.
    private var context: DecodingContext? {
        slot.pointee.generation == generation ? slot.pointee.context : nil
    }

    private func liveContext() throws -> DecodingContext {
        guard let context else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [],
                    debugDescription: "The container was kept beyond the decoding of its value."
                )
            )
        }
        return context
    }

    var codingPath: [any CodingKey] { context?.codingPath(object) ?? [] }

    var allKeys: [Key] {
        guard let context, let tape else { return [] }
        var seen: Set<String> = []
        if mode == .fields, context.rules.contains(.customKeys) {
            return context.customNames(object).compactMap {
                seen.insert($0.name).inserted ? Key(stringValue: $0.name) : nil
            }
        }
        var keys: [Key] = []
        keys.reserveCapacity(Int(tape[object].length))
        var index = object + 1
        while index < end {
            let name = tape.string(tape[index])
            if isGuessable || seen.insert(name).inserted, let key = Key(stringValue: name) { keys.append(key) }
            index = tape.end(of: index + 1)
        }
        return keys
    }

    // MARK: Finding members

    @inline(__always)
    private func find(_ key: Key) -> Member? {
        guard let tape else { return nil }
        if isRecallable {
            let node = trace.pointee.recall(KeyedValues.byte(key), object, end)
            if node != 0 { return Member(node: node, entry: tape[node]) }
        }
        var name = key.stringValue
        if isGuessable {
            let node = name.withUTF8 { trace.pointee.guess($0, object, end, isFlat: isFlat, tape) }
            if node != 0 {
                if isRecallable { trace.pointee.remember(KeyedValues.byte(key), object) }
                return Member(node: node, entry: tape[node])
            }
        }
        return search(name)
    }

    /// Whether keys are what enums of coding keys are: a byte that says everything.
    private static var hasByteKeys: Bool { MemoryLayout<Key>.size == 1 && _isPOD(Key.self) }

    @inline(__always)
    private static func byte(_ key: Key) -> UInt8 {
        withUnsafeBytes(of: key) { $0[0] }
    }

    private func search(_ name: String) -> Member? {
        guard let context, let node = context.value(named: name, in: object, mode, trace) else { return nil }
        return Member(node: node, entry: context.entry(node))
    }

    @inline(__always)
    private func member(_ key: Key) throws -> Member {
        guard let member = find(key) else { throw try liveContext().missing(key, object) }
        return member
    }

    /// The member, unless it is absent, `null` or, for a number, an empty field.
    @inline(__always)
    private func present(_ key: Key, emptyIsNil: Bool) -> Member? {
        guard let member = find(key) else { return nil }
        if member.entry.kind == .null { return nil }
        if emptyIsNil, member.entry.kind == .string, member.entry.length == 0, inside == .fields,
            context?.rules.contains(.emptyIsNil) == true
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
        return try liveContext().bool(member.node, inside)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try string(try member(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try double(try member(key)) }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        let member = try member(key)
        return try liveContext().float(member.node, inside)
    }

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
        try integer(type, try member(key))
    }

    @inline(__always)
    private func string(_ member: Member) throws -> String {
        if member.entry.kind == .string, let tape { return tape.string(member.entry) }
        return try liveContext().string(member.node, inside)
    }

    @inline(__always)
    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ member: Member) throws -> Integer {
        if member.entry.kind == .number, let tape,
            let number = NumberText.integer(tape.content(member.entry), as: type)
        {
            return number
        }
        return try liveContext().integer(type, member.node, inside)
    }

    @inline(__always)
    private func double(_ member: Member) throws -> Double {
        if member.entry.kind == .number, let tape, let number = NumberText.double(tape.content(member.entry)) {
            return number
        }
        return try liveContext().double(member.node, inside)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let member = find(key) { return try liveContext().decode(type, member.node, inside) }
        let context = try liveContext()
        guard let list = context.absentList(type, key, object, mode) else { throw context.missing(key, object) }
        return try context.decode(type, list, inside)
    }

    // MARK: Values that may be absent

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        return try liveContext().bool(member.node, inside)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let member = present(key, emptyIsNil: false) else { return nil }
        return try string(member)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        if member.entry.kind == .number { return try double(member) }
        return try liveContext().doubleIfAny(member.node, inside)
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        return try liveContext().floatIfAny(member.node, inside)
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
        guard let member = present(key, emptyIsNil: true) else { return nil }
        if member.entry.kind == .number { return try integer(type, member) }
        return try liveContext().integerIfAny(type, member.node, inside)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let member = present(key, emptyIsNil: false) else { return nil }
        return try liveContext().decodeIfAny(type, member.node, inside)
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

    func superDecoder() throws -> any Decoder { try superDecoder(named: "super") }

    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder(named: key.stringValue) }

    /// A decoder for a member; as if it were `null` where there is none.
    private func superDecoder(named name: String) throws -> any Decoder {
        let context = try liveContext()
        let node = context.value(named: name, in: object, mode)
        return ValueDecoder(
            context: context,
            node: node ?? context.add(.absent(parent: object, key: DecodingKey(name))),
            mode: inside
        )
    }

    private func decoder(_ key: Key) throws -> ValueDecoder {
        let member = try member(key)
        return ValueDecoder(context: try liveContext(), node: member.node, mode: inside)
    }
}
