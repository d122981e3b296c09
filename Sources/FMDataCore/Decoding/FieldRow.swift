/// Reads the fields of a record or of a portal's row by their position in a list of names. An `init(from:)` with it is
/// faster than the one that the compiler makes.
///
/// ```swift
/// struct Contact: LayoutRecord {
///     static let layout = "Contacts"
///     private static let fields = FieldRow.Names(CodingKeys.self)
///
///     var name: String
///     var city: String?
///     var balance: FMNumber?
///
///     enum CodingKeys: String, CodingKey, CaseIterable {
///         case name = "Name", city = "City", balance = "Balance"
///     }
///
///     init(from decoder: any Decoder) throws {
///         let row = try FieldRow.of(decoder, Self.fields)
///         name = try row.text(0)
///         city = try row.textIfAny(1)
///         balance = try row.numberIfAny(2)
///     }
/// }
///
/// let ada = try await database.layout(Contact.self).find { $0(.name) == "Ada Lovelace" }.one().firstValue()
/// print(ada.balance ?? 0)                                     // 1815.12
/// ```
///
/// The records of an answer have the same fields in the same order. So the place of each name is looked up once and not
/// compared again for the next record. Generated types use it (<doc:Models>). With other decoders than FMData's own,
/// the fields are requested by name.
///
/// Values are read like properties of these types, by the rules of ``DecodingOptions``, and with the same errors. A
/// position beyond the list of names is a programming error and stops the program.
public class FieldRow {
    /// The names of fields, in an order that the program chooses.
    public final class Names: Sendable {
        /// The names as they are in the JSON text.
        public let names: [String]

        /// Creates a list of names in their order.
        public init(_ names: [String]) { self.names = names }

        /// Creates a list of the coding keys of a type, in the order of their declaration.
        public convenience init<Keys: CodingKey & CaseIterable>(_ keys: Keys.Type) {
            self.init(Keys.allCases.map(\.stringValue))
        }
    }

    final let names: Names
    /// `nil` for FMData's own decoder.
    private let container: KeyedDecodingContainer<FieldData.CodingKeys>?

    fileprivate init(_ names: Names, _ container: KeyedDecodingContainer<FieldData.CodingKeys>?) {
        self.names = names
        self.container = container
    }

    /// Returns the fields of the object that a decoder reads.
    ///
    /// - Throws: `DecodingError` if the value is not an object.
    public static func of(_ decoder: any Decoder, _ names: Names) throws -> FieldRow {
        if let own = ValueDecoder(decoder) { return try own.context.row(names, own.node, own.mode.members) }
        return FieldRow(names, try decoder.container(keyedBy: FieldData.CodingKeys.self))
    }

    // Types with such fields call methods that are not generic, so decoding is compiled once, here, and not for each
    // type. These implementations are for decoders other than FMData's own.

    /// Reads a `String`.
    public func text(_ place: Int) throws -> String { try value(place) }

    /// Reads a `String?`: `nil` if the layout does not show the field.
    public func textIfAny(_ place: Int) throws -> String? { try valueIfAny(place) }

    /// Reads an `Int`.
    public func integer(_ place: Int) throws -> Int { try value(place) }

    /// Reads an `Int?`: `nil` for an empty field.
    public func integerIfAny(_ place: Int) throws -> Int? { try valueIfAny(place) }

    /// Reads a `Double`.
    public func double(_ place: Int) throws -> Double { try value(place) }

    /// Reads a `Double?`: `nil` for an empty field.
    public func doubleIfAny(_ place: Int) throws -> Double? { try valueIfAny(place) }

    /// Reads a `Bool`.
    public func bool(_ place: Int) throws -> Bool { try value(place) }

    /// Reads a `Bool?`: `nil` for an empty field.
    public func boolIfAny(_ place: Int) throws -> Bool? { try valueIfAny(place) }

    /// Reads a number with all its digits.
    public func number(_ place: Int) throws -> FMNumber { try value(place) }

    /// Reads a number with all its digits: `nil` for an empty field.
    public func numberIfAny(_ place: Int) throws -> FMNumber? { try valueIfAny(place) }

    /// Reads a date.
    public func date(_ place: Int) throws -> FMDate { try value(place) }

    /// Reads a date: `nil` for an empty field.
    public func dateIfAny(_ place: Int) throws -> FMDate? { try valueIfAny(place) }

    /// Reads a time.
    public func time(_ place: Int) throws -> FMTime { try value(place) }

    /// Reads a time: `nil` for an empty field.
    public func timeIfAny(_ place: Int) throws -> FMTime? { try valueIfAny(place) }

    /// Reads a timestamp.
    public func timestamp(_ place: Int) throws -> FMTimestamp { try value(place) }

    /// Reads a timestamp: `nil` for an empty field.
    public func timestampIfAny(_ place: Int) throws -> FMTimestamp? { try valueIfAny(place) }

    /// Reads the content of a container field.
    public func container(_ place: Int) throws -> DataAPI.ContainerReference { try value(place) }

    /// Reads a value of any type, like a property of that type.
    public func value<T: Decodable>(_ place: Int) throws -> T {
        guard let container else { preconditionFailure("FMData's own decoder has a way of its own") }
        return try container.decode(T.self, forKey: key(place))
    }

    /// Reads a value of any type that may be absent, like an optional property of that type.
    public func valueIfAny<T: Decodable>(_ place: Int) throws -> T? {
        try container?.decodeIfPresent(T.self, forKey: key(place))
    }

    private func key(_ place: Int) -> FieldData.CodingKeys { FieldData.CodingKeys(stringValue: names.names[place]) }
}

extension ValueDecoder {
    /// FMData's own decoder, if the decoder is one. A comparison of types is faster than a cast, and each record needs
    /// one.
    fileprivate init?<D: Decoder>(_ decoder: D) {
        guard D.self == ValueDecoder.self else { return nil }
        self = unsafeBitCast(decoder, to: ValueDecoder.self)
    }
}

/// The members of an object on the tape of FMData's own decoder.
///
/// A context uses a row again for the next object with the same names. It remembers where it found the names: as long
/// as the keys of the objects and their order are the same, no names are compared.
final class OwnFieldRow: FieldRow {
    private static let unknown: UInt16 = 0
    /// No real distance: only objects with less than 256 places are remembered.
    private static let absent = UInt16.max

    private let count: Int
    /// The distance of each name's value from its object, if it is the same for each record.
    private let distances: UnsafeMutablePointer<UInt16>
    /// The context that owns this row, or that ``owner`` holds.
    private let unownedContext: Unmanaged<DecodingContext>
    /// The context of a row that may outlive the decoding of its object.
    private var owner: DecodingContext?

    // A row is used by one reader at a time, and nothing here calls other code while it changes one of these.
    /// How deep the type that uses this row is nested in others; 0 if no type uses it.
    @exclusivity(unchecked) var depth = 0
    @exclusivity(unchecked) private var tape: TapeView
    @exclusivity(unchecked) private var object: UInt32 = 0
    /// The place on the tape after the object.
    @exclusivity(unchecked) private var end: UInt32 = 0
    @exclusivity(unchecked) private var objectMode = DecodingContext.Mode.plain
    /// The rules for the values.
    @exclusivity(unchecked) private var mode = DecodingContext.Mode.plain
    /// The state of the known keys that the distances belong to; -1 if they are valid for this object only.
    @exclusivity(unchecked) private var epoch = -1
    /// Whether the names on the tape need no conversion and do not repeat.
    @exclusivity(unchecked) private var isGuessable = false
    /// Whether the keys of the object are known, so that the distances are valid for others with the same keys.
    @exclusivity(unchecked) private var canBeRemembered = false
    /// The key after the value that was found last.
    @exclusivity(unchecked) private var next: UInt32 = 0

    init(_ names: Names, _ context: DecodingContext) {
        unownedContext = .passUnretained(context)
        tape = context.view
        count = names.names.count
        distances = .allocate(capacity: max(1, count))
        distances.initialize(repeating: Self.unknown, count: count)
        super.init(names, nil)
    }

    deinit { distances.deallocate() }

    /// Keeps the context alive as long as this row.
    func keepContext() { owner = unownedContext.takeUnretainedValue() }

    /// Calls the context without counting a reference to it, which each value would cost otherwise.
    @inline(__always)
    private func context<T>(_ call: (DecodingContext) throws -> T) rethrows -> T {
        try unownedContext._withUnsafeGuaranteedRef(call)
    }

    /// Begins to read an object of its context.
    func begin(_ object: UInt32, _ objectMode: DecodingContext.Mode, _ context: DecodingContext) {
        tape = context.view
        self.objectMode = objectMode
        mode = objectMode.inside
        next = object &+ 1
        let head = tape[object]
        isGuessable =
            !head.flags.contains(.irregular) && !(objectMode == .fields && context.rules.contains(.customKeys))
        canBeRemembered = isGuessable && context.keys.hasKnownKeys(object, head)
        if canBeRemembered, self.object == object, end == head.link, epoch == context.keys.epoch { return }
        distances.update(repeating: Self.unknown, count: count)
        (self.object, end, epoch) = (object, head.link, canBeRemembered ? context.keys.epoch : -1)
    }

    // MARK: Finding members

    @inline(__always)
    private func find(_ place: Int) -> UInt32? {
        precondition(place >= 0 && place < count, "A place in the list of names")
        let distance = distances[place]
        if distance > 0, distance < Self.absent { return object &+ UInt32(distance) }
        return search(place)
    }

    @inline(never)
    private func search(_ place: Int) -> UInt32? {
        if distances[place] == Self.absent { return nil }
        let node = nextIfNamed(place) ?? context { $0.value(named: names.names[place], in: object, objectMode) }
        if let node, isOnTape(node) { next = tape.end(of: node) }
        if canBeRemembered { remember(node, place) }
        return node
    }

    private func remember(_ node: UInt32?, _ place: Int) {
        guard let node else {
            distances[place] = Self.absent
            return
        }
        // A value that is not on the tape, such as a list of repetitions, is made anew for each record.
        guard isOnTape(node) else { return }
        distances[place] = UInt16(exactly: node &- object) ?? Self.unknown
    }

    /// The value of the next key, if the key has the name. A list of names mostly has the order of the layout, so a
    /// record of more fields than are remembered is walked through once.
    private func nextIfNamed(_ place: Int) -> UInt32? {
        guard isGuessable, next < end else { return nil }
        var name = names.names[place]
        return name.withUTF8 { tape.isEqual(tape[next], $0) } ? next &+ 1 : nil
    }

    @inline(__always)
    private func node(_ place: Int) throws -> UInt32 {
        guard let node = find(place) else { throw missing(place) }
        return node
    }

    @inline(never)
    private func missing(_ place: Int) -> DecodingError {
        context { $0.missing(DecodingKey(names.names[place]), object) }
    }

    /// The value, unless it is absent, `null` or an empty field.
    @inline(__always)
    private func present(_ place: Int) -> UInt32? {
        guard let node = find(place) else { return nil }
        let entry = self.entry(node)
        if entry.kind == .null { return nil }
        let isEmpty = entry.kind == .string && entry.length == 0 && mode == .fields
        return isEmpty && context({ $0.rules.contains(.emptyIsNil) }) ? nil : node
    }

    @inline(__always)
    private func entry(_ node: UInt32) -> JSONTape.Entry {
        isOnTape(node) ? tape[node] : context { $0.entry(node) }
    }

    @inline(__always)
    private func isOnTape(_ node: UInt32) -> Bool { node & DecodingContext.detachedBit == 0 }

    // MARK: Values

    @inline(__always)
    private func text(at node: UInt32) throws -> String {
        let entry = self.entry(node)
        return entry.kind == .string ? tape.string(entry) : try context { try $0.string(node, mode) }
    }

    override func text(_ place: Int) throws -> String { try text(at: try node(place)) }

    override func textIfAny(_ place: Int) throws -> String? {
        guard let node = find(place) else { return nil }
        let entry = self.entry(node)
        if entry.kind == .null { return nil }
        if entry.kind == .string, entry.length == 0, mode == .fields,
            context({ $0.rules.isSuperset(of: [.emptyIsNil, .emptyTextIsNil]) })
        {
            return nil
        }
        return try text(at: node)
    }

    override func integer(_ place: Int) throws -> Int {
        let node = try node(place)
        if let small = entry(node).smallInteger { return Int(small) }
        return try context { try $0.integer(Int.self, node, mode) }
    }

    override func integerIfAny(_ place: Int) throws -> Int? {
        guard let node = present(place) else { return nil }
        if let small = entry(node).smallInteger { return Int(small) }
        return try context { try $0.integerIfAny(Int.self, node, mode) }
    }

    override func double(_ place: Int) throws -> Double {
        let node = try node(place)
        if let small = entry(node).smallDouble { return small }
        return try context { try $0.double(node, mode) }
    }

    override func doubleIfAny(_ place: Int) throws -> Double? {
        guard let node = present(place) else { return nil }
        if let small = entry(node).smallDouble { return small }
        return try context { try $0.doubleIfAny(node, mode) }
    }

    override func bool(_ place: Int) throws -> Bool {
        let node = try node(place)
        return try context { try $0.bool(node, mode) }
    }

    override func boolIfAny(_ place: Int) throws -> Bool? {
        guard let node = present(place) else { return nil }
        return try context { try $0.boolIfAny(node, mode) }
    }

    @inline(__always)
    private func decode<T: Decodable>(_ type: T.Type, _ place: Int) throws -> T {
        let node = try node(place)
        return try context { try $0.decode(type, node, mode) }
    }

    @inline(__always)
    private func decodeIfAny<T: Decodable>(_ type: T.Type, _ place: Int) throws -> T? {
        guard let node = find(place) else { return nil }
        // A list is read even if its first repetition is missing.
        if entry(node).kind == .null, !context({ $0.isGap(node) }) || !(type is any ListValue.Type) { return nil }
        return try context { try $0.decodeIfAny(type, node, mode) }
    }

    override func number(_ place: Int) throws -> FMNumber { try decode(FMNumber.self, place) }
    override func numberIfAny(_ place: Int) throws -> FMNumber? { try decodeIfAny(FMNumber.self, place) }
    override func date(_ place: Int) throws -> FMDate { try decode(FMDate.self, place) }
    override func dateIfAny(_ place: Int) throws -> FMDate? { try decodeIfAny(FMDate.self, place) }
    override func time(_ place: Int) throws -> FMTime { try decode(FMTime.self, place) }
    override func timeIfAny(_ place: Int) throws -> FMTime? { try decodeIfAny(FMTime.self, place) }
    override func timestamp(_ place: Int) throws -> FMTimestamp { try decode(FMTimestamp.self, place) }
    override func timestampIfAny(_ place: Int) throws -> FMTimestamp? { try decodeIfAny(FMTimestamp.self, place) }
    override func container(_ place: Int) throws -> DataAPI.ContainerReference {
        try decode(DataAPI.ContainerReference.self, place)
    }
    override func value<T: Decodable>(_ place: Int) throws -> T { try decode(T.self, place) }
    override func valueIfAny<T: Decodable>(_ place: Int) throws -> T? { try decodeIfAny(T.self, place) }
}
