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

    fileprivate let names: Names
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
        if let own = decoder as? ValueDecoder { return try OwnFieldRow(own, names) }
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

/// The members of an object on the tape of FMData's own decoder.
private final class OwnFieldRow: FieldRow {
    private let context: DecodingContext
    private let tape: TapeView
    private let object: UInt32
    private let objectMode: DecodingContext.Mode
    /// The rules for the values.
    private let mode: DecodingContext.Mode
    private let places: FieldPlaces
    /// The distances of ``places``, which lives as long as this object.
    private let distances: UnsafeMutablePointer<UInt16>
    private let count: Int
    /// The turn of ``places`` for this object. A different turn means that `places` is used for another object now.
    private let turn: Int
    /// The turn of ``places`` now.
    private let turns: UnsafePointer<Int>
    /// Whether the names on the tape need no conversion and do not repeat.
    private let isGuessable: Bool
    /// The key after the value that was found last.
    private var next: UInt32

    init(_ decoder: ValueDecoder, _ names: Names) throws {
        let (context, object, objectMode) = (decoder.context, decoder.node, decoder.mode.members)
        guard context.isOnTape(object), context.entry(object).kind == .object else {
            throw context.mismatch([String: Any].self, object)
        }
        self.context = context
        self.object = object
        self.objectMode = objectMode
        mode = objectMode.inside
        tape = context.view
        next = object &+ 1
        isGuessable =
            !tape[object].flags.contains(.irregular)
            && !(objectMode == .fields && context.rules.contains(.customKeys))
        places = context.places(of: names)
        distances = places.distances
        count = places.count
        turn = places.begin(object, tape[object], context.keys, canBeRemembered: isGuessable)
        turns = UnsafePointer(places.turns)
        super.init(names, nil)
    }

    // MARK: Finding members

    @inline(__always)
    private func find(_ place: Int) -> UInt32? {
        precondition(place >= 0 && place < count, "A place in the list of names")
        if turns.pointee == turn {
            let distance = distances[place]
            if distance > 0, distance < FieldPlaces.absent { return object &+ UInt32(distance) }
        }
        return search(place)
    }

    @inline(never)
    private func search(_ place: Int) -> UInt32? {
        let isRemembering = turns.pointee == turn
        if isRemembering, distances[place] == FieldPlaces.absent { return nil }
        let node = nextIfNamed(place) ?? context.value(named: names.names[place], in: object, objectMode)
        if let node, context.isOnTape(node) { next = tape.end(of: node) }
        if isRemembering { places.found(node, place, object) }
        return node
    }

    /// The value of the next key, if the key has the name. A list of names mostly has the order of the layout, so a
    /// record of more fields than are remembered is walked through once.
    private func nextIfNamed(_ place: Int) -> UInt32? {
        guard isGuessable, next < tape[object].link else { return nil }
        var name = names.names[place]
        return name.withUTF8 { tape.isEqual(tape[next], $0) } ? next &+ 1 : nil
    }

    @inline(__always)
    private func node(_ place: Int) throws -> UInt32 {
        guard let node = find(place) else { throw missing(place) }
        return node
    }

    @inline(never)
    private func missing(_ place: Int) -> DecodingError { context.missing(DecodingKey(names.names[place]), object) }

    /// The value, unless it is absent, `null` or an empty field.
    @inline(__always)
    private func present(_ place: Int) -> UInt32? {
        guard let node = find(place) else { return nil }
        let entry = self.entry(node)
        if entry.kind == .null { return nil }
        let isEmpty = entry.kind == .string && entry.length == 0 && mode == .fields
        return isEmpty && context.rules.contains(.emptyIsNil) ? nil : node
    }

    @inline(__always)
    private func entry(_ node: UInt32) -> JSONTape.Entry {
        node & DecodingContext.detachedBit == 0 ? tape[node] : context.entry(node)
    }

    // MARK: Values

    @inline(__always)
    private func text(at node: UInt32) throws -> String {
        let entry = self.entry(node)
        return entry.kind == .string ? tape.string(entry) : try context.string(node, mode)
    }

    override func text(_ place: Int) throws -> String { try text(at: try node(place)) }

    override func textIfAny(_ place: Int) throws -> String? {
        guard let node = find(place) else { return nil }
        let entry = self.entry(node)
        if entry.kind == .null { return nil }
        if entry.kind == .string, entry.length == 0, mode == .fields,
            context.rules.isSuperset(of: [.emptyIsNil, .emptyTextIsNil])
        {
            return nil
        }
        return try text(at: node)
    }

    override func integer(_ place: Int) throws -> Int {
        let node = try node(place)
        if let small = entry(node).smallInteger { return Int(small) }
        return try context.integer(Int.self, node, mode)
    }

    override func integerIfAny(_ place: Int) throws -> Int? {
        guard let node = present(place) else { return nil }
        if let small = entry(node).smallInteger { return Int(small) }
        return try context.integerIfAny(Int.self, node, mode)
    }

    override func double(_ place: Int) throws -> Double {
        let node = try node(place)
        if let small = entry(node).smallDouble { return small }
        return try context.double(node, mode)
    }

    override func doubleIfAny(_ place: Int) throws -> Double? {
        guard let node = present(place) else { return nil }
        if let small = entry(node).smallDouble { return small }
        return try context.doubleIfAny(node, mode)
    }

    override func bool(_ place: Int) throws -> Bool { try context.bool(try node(place), mode) }

    override func boolIfAny(_ place: Int) throws -> Bool? {
        guard let node = present(place) else { return nil }
        return try context.boolIfAny(node, mode)
    }

    @inline(__always)
    private func decode<T: Decodable>(_ type: T.Type, _ place: Int) throws -> T {
        try context.decode(type, try node(place), mode)
    }

    @inline(__always)
    private func decodeIfAny<T: Decodable>(_ type: T.Type, _ place: Int) throws -> T? {
        guard let node = find(place) else { return nil }
        // A list is read even if its first repetition is missing.
        if entry(node).kind == .null, !context.isGap(node) || !(type is any ListValue.Type) { return nil }
        return try context.decodeIfAny(type, node, mode)
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

/// The places of a list's names in the object read last. As long as the keys and their order are the same, no names are
/// compared.
final class FieldPlaces {
    static let unknown: UInt16 = 0
    /// No real distance: only objects with less than 256 places are remembered.
    static let absent = UInt16.max

    let names: FieldRow.Names
    let count: Int
    /// The distance of each name's value from its object, if it is the same for each record.
    let distances: UnsafeMutablePointer<UInt16>
    // A list of names is used by one reader at a time, and nothing here calls other code.
    /// Rises with each object. It is read for each field, by a pointer, which counts no references.
    let turns: UnsafeMutablePointer<Int>
    @exclusivity(unchecked) private var object: UInt32 = 0
    @exclusivity(unchecked) private var end: UInt32 = 0
    @exclusivity(unchecked) private var epoch = -1
    @exclusivity(unchecked) private var canBeRemembered = false

    init(_ names: FieldRow.Names) {
        self.names = names
        count = names.names.count
        distances = .allocate(capacity: max(1, count))
        distances.initialize(repeating: Self.unknown, count: count)
        turns = .allocate(capacity: 1)
        turns.initialize(to: 0)
    }

    deinit {
        distances.deallocate()
        turns.deallocate()
    }

    /// Prepares for an object and returns its turn.
    @inline(__always)
    func begin(_ object: UInt32, _ head: JSONTape.Entry, _ keys: KeyMemory, canBeRemembered: Bool) -> Int {
        turns.pointee &+= 1
        let turn = turns.pointee
        self.canBeRemembered = canBeRemembered && keys.hasKnownKeys(object, head)
        if self.canBeRemembered, self.object == object, end == head.link, epoch == keys.epoch { return turn }
        distances.update(repeating: Self.unknown, count: count)
        (self.object, end, epoch) = (object, head.link, self.canBeRemembered ? keys.epoch : -1)
        return turn
    }

    func found(_ node: UInt32?, _ place: Int, _ object: UInt32) {
        guard canBeRemembered else { return }
        guard let node else {
            distances[place] = Self.absent
            return
        }
        // A value that is not on the tape, such as a list of repetitions, is made anew for each record.
        guard node & DecodingContext.detachedBit == 0 else { return }
        distances[place] = UInt16(exactly: node &- object) ?? Self.unknown
    }
}
