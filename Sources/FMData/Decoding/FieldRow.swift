/// The fields of a record, or of a portal's row, by their places in a list of names: a quicker `init(from:)` than the one that the
/// compiler makes.
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
///         let row = try FieldRow(decoder, Self.fields)
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
/// The records of an answer have the same fields in the same order, so where each of the names stands is looked up once, and not
/// compared again for the next record. Generated types are read so (<doc:Models>). With another decoder than FMData's own the
/// fields are asked for by their names.
///
/// Values are read as properties of these types are, by the rules of ``DecodingOptions``, and errors say the same. A place beyond the
/// list of names is a mistake in the program, and ends it.
public final class FieldRow {
    /// The names of fields, in an order of the program's.
    public final class Names: Sendable {
        /// As they are on the wire.
        public let names: [String]

        /// Names in their order.
        public init(_ names: [String]) { self.names = names }

        /// The coding keys of a type, in the order in which they are declared.
        public convenience init<Keys: CodingKey & CaseIterable>(_ keys: Keys.Type) {
            self.init(Keys.allCases.map(\.stringValue))
        }
    }

    private let names: Names
    private let source: Source

    private enum Source {
        case own(OwnRow)
        case other(KeyedDecodingContainer<FieldData.CodingKeys>)
    }

    /// The fields of the object that a decoder stands at.
    public init(_ decoder: any Decoder, _ names: Names) throws {
        self.names = names
        source =
            if let own = decoder as? ValueDecoder {
                .own(try OwnRow(own, names))
            } else {
                .other(try decoder.container(keyedBy: FieldData.CodingKeys.self))
            }
    }

    private func key(_ place: Int) -> FieldData.CodingKeys { FieldData.CodingKeys(stringValue: names.names[place]) }

    // What is read most often has a method that is not generic: it is compiled here, once, and not in every type that has such a field.

    /// A `String`.
    public func text(_ place: Int) throws -> String {
        switch source {
        case .own(let row): return try row.text(at: try row.node(place))
        case .other(let container): return try container.decode(String.self, forKey: key(place))
        }
    }

    /// A `String?`: `nil` where the layout does not show the field.
    public func textIfAny(_ place: Int) throws -> String? {
        guard case .own(let row) = source else { return try other(String.self, place) }
        return try row.textIfAny(place)
    }

    /// An `Int`.
    public func integer(_ place: Int) throws -> Int {
        switch source {
        case .own(let row):
            let node = try row.node(place)
            if let small = row.context.entry(node).smallInteger { return Int(small) }
            return try row.context.integer(Int.self, node, row.mode)
        case .other(let container): return try container.decode(Int.self, forKey: key(place))
        }
    }

    /// An `Int?`: `nil` for an empty field.
    public func integerIfAny(_ place: Int) throws -> Int? {
        guard case .own(let row) = source else { return try other(Int.self, place) }
        guard let node = row.present(place) else { return nil }
        if let small = row.context.entry(node).smallInteger { return Int(small) }
        return try row.context.integerIfAny(Int.self, node, row.mode)
    }

    /// A `Double`.
    public func double(_ place: Int) throws -> Double {
        switch source {
        case .own(let row):
            let node = try row.node(place)
            return try row.context.entry(node).smallDouble ?? row.context.double(node, row.mode)
        case .other(let container): return try container.decode(Double.self, forKey: key(place))
        }
    }

    /// A `Double?`: `nil` for an empty field.
    public func doubleIfAny(_ place: Int) throws -> Double? {
        guard case .own(let row) = source else { return try other(Double.self, place) }
        guard let node = row.present(place) else { return nil }
        return try row.context.entry(node).smallDouble ?? row.context.doubleIfAny(node, row.mode)
    }

    /// A `Bool`.
    public func bool(_ place: Int) throws -> Bool {
        switch source {
        case .own(let row): return try row.context.bool(try row.node(place), row.mode)
        case .other(let container): return try container.decode(Bool.self, forKey: key(place))
        }
    }

    /// A `Bool?`: `nil` for an empty field.
    public func boolIfAny(_ place: Int) throws -> Bool? {
        guard case .own(let row) = source else { return try other(Bool.self, place) }
        return try row.present(place).map { try row.context.bool($0, row.mode) }
    }

    /// A number with all its digits.
    public func number(_ place: Int) throws -> FMNumber { try value(place) }

    /// A number with all its digits: `nil` for an empty field.
    public func numberIfAny(_ place: Int) throws -> FMNumber? { try valueIfAny(place) }

    /// A date.
    public func date(_ place: Int) throws -> FMDate { try value(place) }

    /// A date: `nil` for an empty field.
    public func dateIfAny(_ place: Int) throws -> FMDate? { try valueIfAny(place) }

    /// A time.
    public func time(_ place: Int) throws -> FMTime { try value(place) }

    /// A time: `nil` for an empty field.
    public func timeIfAny(_ place: Int) throws -> FMTime? { try valueIfAny(place) }

    /// A timestamp.
    public func timestamp(_ place: Int) throws -> FMTimestamp { try value(place) }

    /// A timestamp: `nil` for an empty field.
    public func timestampIfAny(_ place: Int) throws -> FMTimestamp? { try valueIfAny(place) }

    /// What a container field holds.
    public func container(_ place: Int) throws -> DataAPI.ContainerReference { try value(place) }

    /// A value of any type, as a property of that type is read.
    public func value<T: Decodable>(_ place: Int) throws -> T {
        switch source {
        case .own(let row): try row.value(T.self, place)
        case .other(let container): try container.decode(T.self, forKey: key(place))
        }
    }

    /// A value of any type that may be absent, as an optional property of that type is read.
    public func valueIfAny<T: Decodable>(_ place: Int) throws -> T? {
        switch source {
        case .own(let row): try row.valueIfAny(T.self, place)
        case .other: try other(T.self, place)
        }
    }

    private func other<T: Decodable>(_ type: T.Type, _ place: Int) throws -> T? {
        guard case .other(let container) = source else { return nil }
        return try container.decodeIfPresent(type, forKey: key(place))
    }
}

/// The members of an object on the tape of FMData's own decoder, by the places of their names in a list.
private struct OwnRow {
    let context: DecodingContext
    let tape: TapeView
    /// What rules hold for the values.
    let mode: DecodingContext.Mode
    private let object: UInt32
    private let objectMode: DecodingContext.Mode
    private let names: FieldRow.Names
    private let places: FieldPlaces
    /// That of ``places`` as long as they are those of this object.
    private let turn: Int

    init(_ decoder: ValueDecoder, _ names: FieldRow.Names) throws {
        context = decoder.context
        object = decoder.node
        objectMode = decoder.mode.members
        mode = objectMode.inside
        guard context.isOnTape(object), context.entry(object).kind == .object else {
            throw context.mismatch([String: Any].self, object)
        }
        tape = context.view
        self.names = names
        let isGuessable =
            !tape[object].flags.contains(.irregular)
            && !(objectMode == .fields && context.rules.contains(.customKeys))
        places = context.places(of: names)
        turn = places.begin(object, tape[object], context.keys, canBeRemembered: isGuessable)
    }

    /// The value of the name at a place of the list.
    @inline(__always)
    func node(_ place: Int) throws -> UInt32 {
        guard let node = find(place) else { throw context.missing(DecodingKey(names.names[place]), object) }
        return node
    }

    @inline(__always)
    private func find(_ place: Int) -> UInt32? {
        if places.turn == turn {
            let distance = places.distances[place]
            if distance > 0 { return object &+ UInt32(distance) }
        }
        return search(place)
    }

    @inline(never)
    private func search(_ place: Int) -> UInt32? {
        if places.turn == turn, places.isAbsent(place) { return nil }
        let node = context.value(named: names.names[place], in: object, objectMode)
        if places.turn == turn { places.found(node, place, object) }
        return node
    }

    /// The value, unless it is absent, `null` or an empty field.
    @inline(__always)
    func present(_ place: Int) -> UInt32? {
        guard let node = find(place) else { return nil }
        let entry = context.entry(node)
        if entry.kind == .null { return nil }
        let isEmpty =
            entry.kind == .string && entry.length == 0 && mode == .fields && context.rules.contains(.emptyIsNil)
        return isEmpty ? nil : node
    }

    @inline(__always)
    func text(at node: UInt32) throws -> String {
        let entry = context.entry(node)
        return entry.kind == .string ? tape.string(entry) : try context.string(node, mode)
    }

    @inline(__always)
    func textIfAny(_ place: Int) throws -> String? {
        guard let node = find(place) else { return nil }
        let entry = context.entry(node)
        if entry.kind == .null { return nil }
        let isNil =
            entry.kind == .string && entry.length == 0 && mode == .fields
            && context.rules.isSuperset(of: [.emptyIsNil, .emptyTextIsNil])
        return isNil ? nil : try text(at: node)
    }

    @inline(__always)
    func value<T: Decodable>(_ type: T.Type, _ place: Int) throws -> T {
        try context.decode(type, try node(place), mode)
    }

    @inline(__always)
    func valueIfAny<T: Decodable>(_ type: T.Type, _ place: Int) throws -> T? {
        guard let node = find(place) else { return nil }
        // A list whose first repetitions are missing is a list all the same.
        if context.entry(node).kind == .null, !context.isGap(node) || !(type is any ListValue.Type) { return nil }
        return try context.decodeIfAny(type, node, mode)
    }
}

/// Where the names of a list stood in the last object that was asked for them: as long as its keys are the same, and so is their order,
/// nothing is compared.
final class FieldPlaces {
    private static let unknown: UInt16 = 0

    let names: FieldRow.Names
    /// How far from the object the value of each name is; 0 where that is not known, or not the same for each record.
    private(set) var distances: [UInt16]
    /// Rises with each object.
    private(set) var turn = 0
    private var absent: [Bool]
    private var object: UInt32 = 0
    private var end: UInt32 = 0
    private var epoch = -1
    private var canBeRemembered = false

    init(_ names: FieldRow.Names) {
        self.names = names
        distances = Array(repeating: Self.unknown, count: names.names.count)
        absent = Array(repeating: false, count: names.names.count)
    }

    /// An object is going to be asked.
    func begin(_ object: UInt32, _ head: JSONTape.Entry, _ keys: KeyMemory, canBeRemembered: Bool) -> Int {
        turn += 1
        self.canBeRemembered = canBeRemembered && keys.hasKnownKeys(object, head)
        if self.canBeRemembered, self.object == object, end == head.link, epoch == keys.epoch { return turn }
        for place in distances.indices { (distances[place], absent[place]) = (Self.unknown, false) }
        (self.object, end, epoch) = (object, head.link, self.canBeRemembered ? keys.epoch : -1)
        return turn
    }

    func isAbsent(_ place: Int) -> Bool { absent[place] }

    func found(_ node: UInt32?, _ place: Int, _ object: UInt32) {
        guard canBeRemembered else { return }
        guard let node else {
            absent[place] = true
            return
        }
        // What is not on the tape, such as a list of repetitions, is put together for each record.
        guard node & DecodingContext.detachedBit == 0 else { return }
        distances[place] = UInt16(exactly: node &- object) ?? Self.unknown
    }
}
