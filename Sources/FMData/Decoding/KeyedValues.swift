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
    /// Belongs to the context, as long as the generation stands.
    private let frame: UnsafeMutablePointer<KeyFrame>
    private let generation: UInt32

    init(_ slot: UnsafeMutablePointer<ContextSlot>, _ frame: UnsafeMutablePointer<KeyFrame>) {
        self.slot = slot
        self.frame = frame
        generation = slot.pointee.generation
    }

    // MARK: Context

    /// Whether the value is still there. Before nothing else may be looked at, not even the frame.
    @inline(__always)
    private var isLive: Bool {
        slot.pointee.generation == generation && frame.pointee.value == slot.pointee.value
    }

    /// The tape, unless the value is gone.
    @inline(__always)
    private var tape: TapeView? { isLive ? slot.pointee.tape : nil }

    /// The context, unless the value is gone.
    @inline(__always)
    private var context: DecodingContext? { isLive ? slot.pointee.context?.takeUnretainedValue() : nil }

    /// Does something with the context, without counting a reference to it.
    @inline(__always)
    private func withContext<Result>(_ body: (DecodingContext) throws -> Result) throws -> Result {
        guard isLive, let context = slot.pointee.context else { throw tooLate }
        return try context._withUnsafeGuaranteedRef { try body($0) }
    }

    private var tooLate: DecodingError {
        DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], cause: .tooLate))
    }

    var codingPath: [any CodingKey] { context?.codingPath(frame.pointee.object) ?? [] }

    var allKeys: [Key] {
        guard let context, let tape else { return [] }
        let object = frame.pointee.object
        var seen: Set<ExactName> = []
        if frame.pointee.mode == .fields, context.rules.contains(.customKeys) {
            return context.customNames(object).list.compactMap {
                seen.insert(ExactName($0.name)).inserted ? Key(stringValue: $0.name) : nil
            }
        }
        var keys: [Key] = []
        keys.reserveCapacity(Int(tape[object].length))
        var index = object + 1
        while index < frame.pointee.end {
            let name = tape.string(tape[index])
            if tape[index].flags.contains(.nonASCII) || tape[index].flags.contains(.escaped) { context.listed = object }
            if frame.pointee.isGuessable || seen.insert(ExactName(name)).inserted, let key = Key(stringValue: name) {
                keys.append(key)
            }
            index = tape.end(of: index + 1)
        }
        return keys
    }

    // MARK: Finding members

    @inline(__always)
    private func find(_ key: Key) -> Member? {
        guard let tape else { return nil }
        if frame.pointee.isRecallable {
            let node = frame.pointee.recall(KeyedValues.byte(key))
            if node != 0 { return Member(node: node, entry: tape[node]) }
        }
        return search(key, tape)
    }

    /// Whether keys are what enums of coding keys are: a byte that says everything.
    static var hasByteKeys: Bool { MemoryLayout<Key>.size == 1 && _isPOD(Key.self) }

    @inline(__always)
    private static func byte(_ key: Key) -> UInt8 { unsafeBitCast(key, to: UInt8.self) }

    @inline(never)
    private func search(_ key: Key, _ tape: TapeView) -> Member? {
        var name = key.stringValue
        if frame.pointee.isGuessable {
            let rawKey = frame.pointee.isRecallable ? KeyedValues.byte(key) : 0
            let node = name.withUTF8 { frame.pointee.guess($0, rawKey, tape) }
            if node != 0 { return Member(node: node, entry: tape[node]) }
        }
        guard let context, let node = context.value(named: name, in: frame.pointee.object, frame.pointee.mode, frame)
        else { return nil }
        return Member(node: node, entry: context.entry(node))
    }

    @inline(__always)
    private func member(_ key: Key) throws -> Member {
        guard let member = find(key) else { throw missing(key) }
        return member
    }

    private func missing(_ key: Key) -> DecodingError {
        context?.missing(key, frame.pointee.object) ?? tooLate
    }

    /// The member, unless it is absent, `null` or, for a number, an empty field.
    @inline(__always)
    private func present(_ key: Key, emptyIsNil: Bool) -> Member? {
        guard let member = find(key) else { return nil }
        if member.entry.kind == .null { return nil }
        if emptyIsNil, member.entry.kind == .string, member.entry.length == 0, frame.pointee.inside == .fields,
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
        return try withContext { try $0.bool(member.node, frame.pointee.inside) }
    }

    @inline(__always)
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try string(try member(key)) }
    @inline(__always)
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try double(try member(key)) }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        let member = try member(key)
        return try withContext { try $0.float(member.node, frame.pointee.inside) }
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
        return try withContext { try $0.string(member.node, frame.pointee.inside) }
    }

    @inline(__always)
    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ member: Member) throws -> Integer {
        if let small = member.entry.smallInteger, let number = Integer(exactly: small) { return number }
        return try withContext { try $0.integer(type, member.node, frame.pointee.inside) }
    }

    @inline(__always)
    private func double(_ member: Member) throws -> Double {
        if let small = member.entry.smallDouble { return small }
        return try withContext { try $0.double(member.node, frame.pointee.inside) }
    }

    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let member = find(key)
        return try withContext { context in
            if let member { return try context.decode(type, member.node, frame.pointee.inside) }
            return try context.decode(type, try absent(type, key, context), frame.pointee.inside)
        }
    }

    /// What stands for a member that is not there, if anything does.
    private func absent(_ type: Any.Type, _ key: Key, _ context: DecodingContext) throws -> UInt32 {
        guard let list = context.absentList(type, key, frame.pointee.object, frame.pointee.mode) else {
            throw missing(key)
        }
        return list
    }

    // MARK: Values that may be absent

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        return try withContext { try $0.bool(member.node, frame.pointee.inside) }
    }

    @inline(__always)
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let member = present(key, emptyIsNil: false) else { return nil }
        if member.entry.length == 0, member.entry.kind == .string, frame.pointee.inside == .fields,
            context?.rules.isSuperset(of: [.emptyIsNil, .emptyTextIsNil]) == true
        {
            return nil
        }
        return try string(member)
    }

    @inline(__always)
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        if member.entry.kind == .number { return try double(member) }
        return try withContext { try $0.doubleIfAny(member.node, frame.pointee.inside) }
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        return try withContext { try $0.floatIfAny(member.node, frame.pointee.inside) }
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
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try integerIfPresent(type, key) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try integerIfPresent(type, key) }

    @inline(__always)
    private func integerIfPresent<Integer: FixedWidthInteger>(_ type: Integer.Type, _ key: Key) throws -> Integer? {
        guard let member = present(key, emptyIsNil: true) else { return nil }
        if member.entry.kind == .number { return try integer(type, member) }
        return try withContext { try $0.integerIfAny(type, member.node, frame.pointee.inside) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let member = find(key) else { return nil }
        return try withContext { context in
            // A list whose first repetitions are missing is a list all the same.
            if member.entry.kind == .null, !context.isGap(member.node) || !(type is any ListValue.Type) { return nil }
            return try context.decodeIfAny(type, member.node, frame.pointee.inside)
        }
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
        try withContext { context in
            let object = frame.pointee.object
            let node = context.value(named: name, in: object, frame.pointee.mode)
            return ValueDecoder(
                context: context,
                node: node ?? context.add(.absent(parent: object, key: DecodingKey(name))),
                mode: frame.pointee.inside
            )
        }
    }

    private func decoder(_ key: Key) throws -> ValueDecoder {
        let member = try member(key)
        return try withContext { ValueDecoder(context: $0, node: member.node, mode: frame.pointee.inside) }
    }
}
