import Foundation

/// The state shared by all decoders and containers of one document. Values are identified by their index on the tape.
///
/// Some values are not on the tape: a missing member requested by `superDecoder(forKey:)`, the repetitions of a field,
/// the rows of an absent portal. They are stored separately, under indices with the high bit set.
final class DecodingContext {
    /// The part of an answer that a value belongs to, which decides which rules apply.
    package enum Mode: UInt8 {
        /// Plain JSON.
        case plain
        /// The fields of a record or of a portal row.
        case fields
        /// The value of a field within the `init(from:)` of a type that reads it by itself and may try one kind after
        /// another: the kind of the JSON value decides.
        case kinds
        /// The portals of a record, by name.
        case portals

        /// The mode of the values of an object's members.
        var inside: Mode { self == .portals ? .fields : self }

        /// Whether a value is that of a field.
        var isField: Bool { self == .fields || self == .kinds }

        /// The mode of an object's members: in a portal's row FileMaker's rules apply, even if its type was tried among
        /// others.
        var members: Mode { self == .kinds ? .fields : self }
    }

    /// A value that is not on the tape.
    enum Detached {
        /// A value read as `null`.
        case absent(parent: UInt32, key: DecodingKey)
        /// A missing repetition before one that is there.
        case gap(parent: UInt32, key: DecodingKey)
        /// A list; without a key, it takes the place of its parent.
        case list(parent: UInt32, key: DecodingKey?, elements: [UInt32])
        /// A single value that is read as a list, as the element of that list. It is not read as a list again, because
        /// a type of lists within lists would never end.
        case element(UInt32)
        /// One line of a text, as a text.
        case line(parent: UInt32, key: DecodingKey, JSONTape.Entry)
    }

    static let detachedBit: UInt32 = 0x8000_0000
    /// Enough for a record and the rows of its portals.
    private static let maximumRows = 16

    let document: JSONDocument
    let keys: KeyMemory
    package let options: DecodingOptions
    let rules: Rules
    let userInfo: [CodingUserInfoKey: any Sendable]
    /// The user's own decoder for records; see ``isForeign(_:_:)``.
    let recordDecoder: JSONDecoder?
    // A context belongs to one reader and is used by one call at a time, and access to these properties never calls
    // other code. Checks for overlapping accesses, which cost a few percent of all decoding, would find none.

    /// The index of the record on the tape, from 0; `nil` if the tape holds another value.
    @exclusivity(unchecked) var recordIndex: Int?
    /// The path to another member of an answer; empty for a whole text.
    var memberPath: [DecodingKey] = []
    /// The layouts of the formats in which servers write, as plain values: copying the format itself would count
    /// references.
    let layouts:
        (
            date: CivilPattern.FixedLayout?, time: CivilPattern.FixedLayout?, timestamp: CivilPattern.FixedLayout?
        )
    @exclusivity(unchecked) var wallClock: WallClock
    /// The type whose decoding began last. It identifies the type for errors that do not name it.
    @exclusivity(unchecked) var expectedType: Any.Type = Void.self
    /// The current number of types that are being decoded within each other, and its limit.
    @exclusivity(unchecked) private var nesting = 0
    private let maximumNesting: Int
    /// Whether a type has decoded itself more often than any valid type does. The error is kept, even if the type
    /// catches it and tries something else.
    @exclusivity(unchecked) private var isEndless = false
    /// The object whose keys a type has listed last, if some of them are not plain ASCII, so that two of them may
    /// differ in their Unicode form only. See ``checkNames(_:_:)``.
    @exclusivity(unchecked) var listed: UInt32?
    /// What a strategy of the user's made of names, over all records and for the objects of this one.
    var convertedNames: [ExactName: String] = [:]
    @exclusivity(unchecked) var customNames: [UInt32: CustomNames] = [:]
    /// The names of portals, of objects that have a name twice.
    @exclusivity(unchecked) var portalNames: [UInt32: PortalNames] = [:]
    @exclusivity(unchecked) var repetitions = Repetitions()
    /// Rows that `FieldRow` has returned, with the places of their names. They are used again for the next objects.
    @exclusivity(unchecked) private var rows: [OwnFieldRow] = []
    /// The depth of the innermost type that uses one of them; 0 for none.
    @exclusivity(unchecked) private var rowDepth = 0
    /// The position in each container that the last search for a path reached.
    @exclusivity(unchecked) private var cursors: [UInt32: Cursor] = [:]
    @exclusivity(unchecked) private var detached: [Detached] = []

    init(
        document: JSONDocument,
        options: DecodingOptions,
        userInfo: [CodingUserInfoKey: any Sendable],
        recordDecoder: JSONDecoder?
    ) {
        self.document = document
        keys = document.keys
        self.options = options
        self.userInfo = userInfo
        self.recordDecoder = recordDecoder
        rules = recordDecoder == nil ? Rules(options) : Rules(options).union(.recordDecoder)
        let format = options.values.format
        layouts = (format.date.fixedLayout, format.time.fixedLayout, format.timestamp.fixedLayout)
        wallClock = WallClock(timeZone: options.values.timeZone)
        // One container uses several types: a list, an optional, a property wrapper and their content.
        maximumNesting = 64 + 4 * min(max(options.maximumDepth, 0), 1 << 20)
    }

    /// A new context.
    convenience init(
        options: DecodingOptions = DecodingOptions(),
        userInfo: [CodingUserInfoKey: any Sendable] = [:],
        recordDecoder: JSONDecoder? = nil
    ) {
        self.init(
            document: JSONDocument(limits: options.limits),
            options: options,
            userInfo: userInfo,
            recordDecoder: recordDecoder
        )
    }

    /// Drops the bytes and keeps what was learned about keys.
    func restart() {
        document.restart()
        recordIndex = nil
        memberPath = []
    }

    /// A new context for the bytes that this one has not read, for use when another object still refers to this one.
    func continuation() -> DecodingContext {
        DecodingContext(
            document: document.continuation(),
            options: options,
            userInfo: userInfo,
            recordDecoder: recordDecoder
        )
    }

    /// Drops the value on the tape. No decoder or container of it may exist; otherwise use ``continuation()``.
    func end() {
        document.tape.count = 0
        if !detached.isEmpty { detached.removeAll() }
        if !customNames.isEmpty { customNames.removeAll(keepingCapacity: true) }
        if !portalNames.isEmpty { portalNames.removeAll(keepingCapacity: true) }
        if !cursors.isEmpty { cursors.removeAll(keepingCapacity: true) }
        keys.endValue()
        repetitions.reset()
        listed = nil
    }

    /// Decodes a type with its own `init(from:)`.
    ///
    /// A type may decode itself at the same place without end, directly or through other types. This stops it before
    /// the stack overflows, and permanently: a type that tries something else after the error would never end.
    @inline(__always)
    func make<T: Decodable>(_ type: T.Type, _ node: UInt32, _ mode: Mode) throws -> T {
        expectedType = type
        if nesting >= maximumNesting { isEndless = true }
        guard !isEndless else { throw corrupted(node, .endless(wanted: type)) }
        nesting += 1
        defer {
            if rowDepth == nesting { takeBackRows() }
            nesting -= 1
            if nesting == 0 { isEndless = false }
        }
        let value = try T(from: ValueDecoder(context: self, node: node, mode: mode, type: type))
        if isEndless { throw corrupted(node, .endless(wanted: type)) }
        if listed == node { try checkNames(type, node) }
        return value
    }

    /// The row for the members of an object, as long as a type is being decoded from it.
    func row(_ names: FieldRow.Names, _ object: UInt32, _ mode: Mode) throws -> FieldRow {
        guard isOnTape(object), document[object].kind == .object else { throw mismatch([String: Any].self, object) }
        let row = spareRow(names)
        row.begin(object, mode, self)
        return row
    }

    private func spareRow(_ names: FieldRow.Names) -> OwnFieldRow {
        if nesting > 0, let spare = rows.first(where: { $0.depth == 0 && $0.names === names }) { return lend(spare) }
        if rows.count == Self.maximumRows, let unused = rows.firstIndex(where: { $0.depth == 0 }) {
            rows.remove(at: unused)
        }
        let row = OwnFieldRow(names, self)
        // Nothing takes back a row that is requested outside of a type's `init(from:)`.
        guard nesting > 0, rows.count < Self.maximumRows else {
            row.keepContext()
            return row
        }
        rows.append(row)
        return lend(row)
    }

    private func lend(_ row: OwnFieldRow) -> OwnFieldRow {
        row.depth = nesting
        rowDepth = nesting
        return row
    }

    /// Takes back the rows of a type after its `init(from:)`. A row that the type has kept is no longer this context's:
    /// it keeps the context, and with it the text that it reads.
    private func takeBackRows() {
        var innermost = 0
        for index in rows.indices.reversed() {
            if rows[index].depth != nesting {
                innermost = max(innermost, rows[index].depth)
            } else if isKnownUniquelyReferenced(&rows[index]) {
                rows[index].depth = 0
            } else {
                rows.remove(at: index).keepContext()
            }
        }
        rowDepth = innermost
    }

    /// Refuses a dictionary if two names differ in their Unicode form only: they are equal as keys, so one value would
    /// be lost.
    private func checkNames(_ type: any Any.Type, _ object: UInt32) throws {
        listed = nil
        guard (type as? any DictionaryValue.Type)?.hasTextKeys == true else { return }
        var names: Set<String> = []
        var exact: Set<ExactName> = []
        var index = object + 1
        while index < document[object].link {
            let name = document.text(document[index])
            if names.insert(name).inserted != exact.insert(ExactName(name)).inserted {
                throw corrupted(object, .sameName(wanted: type))
            }
            index = document.tape.end(of: index + 1)
        }
    }

    /// A container for the members of an object.
    func members<Key: CodingKey>(
        of object: UInt32,
        by type: Key.Type,
        _ mode: Mode
    ) throws -> KeyedDecodingContainer<Key> { KeyedDecodingContainer(try values(of: object, by: type, mode)) }

    /// The members of an object by their keys.
    func values<Key: CodingKey>(of object: UInt32, by type: Key.Type, _ mode: Mode) throws -> KeyedValues<Key> {
        guard isOnTape(object), document[object].kind == .object else { throw mismatch([String: Any].self, object) }
        return KeyedValues(self, object, mode.members)
    }

    // MARK: Values

    /// The tape and text that the containers work with.
    @inline(__always)
    var view: TapeView {
        TapeView(entries: document.tape.entries, text: document.bytes + document.valueStart)
    }

    /// The entry of a value. A list has the entry of its first element.
    @inline(__always)
    func entry(_ node: UInt32) -> JSONTape.Entry {
        node & DecodingContext.detachedBit == 0 ? document[node] : detachedEntry(node)
    }

    func isOnTape(_ node: UInt32) -> Bool { node & DecodingContext.detachedBit == 0 }

    /// Whether the value is a missing repetition, or a list that begins with one.
    func isGap(_ node: UInt32) -> Bool {
        guard !isOnTape(node) else { return false }
        switch detached(node) {
        case .gap: return true
        case .list(_, _, let elements): return elements.first.map(isGap) ?? false
        case .absent, .element, .line: return false
        }
    }

    private func detachedEntry(_ node: UInt32) -> JSONTape.Entry {
        switch detached(node) {
        case .list(_, _, let elements) where !elements.isEmpty: return entry(elements[0])
        case .element(let value): return entry(value)
        case .line(_, _, let entry): return entry
        case .list, .absent, .gap: return JSONTape.Entry(offset: 0, length: 0, link: 0, kind: .null, flags: [])
        }
    }

    private func detached(_ node: UInt32) -> Detached {
        detached[Int(node & ~DecodingContext.detachedBit)]
    }

    func add(_ value: Detached) -> UInt32 {
        detached.append(value)
        return UInt32(detached.count - 1) | DecodingContext.detachedBit
    }

    /// The elements of a list that is not on the tape.
    func list(_ node: UInt32) -> [UInt32]? {
        guard node & DecodingContext.detachedBit != 0, case .list(_, _, let elements) = detached(node) else {
            return nil
        }
        return elements
    }

    /// Whether the value is an array whose first element is an object.
    @inline(__always)
    func holdsObjects(_ node: UInt32) -> Bool {
        guard isOnTape(node) else { return false }
        let head = document[node]
        return head.kind == .array && head.length > 0 && document[node + 1].kind == .object
    }

    /// Whether the entry is an empty field.
    @inline(__always)
    func isEmptyField(_ entry: JSONTape.Entry, _ mode: Mode) -> Bool {
        entry.kind == .string && entry.length == 0 && mode.isField
    }

    // MARK: Paths

    /// The path to the value on the tape.
    var prefix: [DecodingKey] {
        recordIndex.map { [DecodingKey("response"), DecodingKey("data"), DecodingKey(index: $0)] } ?? memberPath
    }

    /// The path to a value. It is found by walking down to the value, so paths cost nothing as long as there is no
    /// error.
    func codingPath(_ node: UInt32) -> [any CodingKey] {
        prefix + path(node)
    }

    private func path(_ node: UInt32) -> [DecodingKey] {
        if node & DecodingContext.detachedBit != 0 {
            switch detached(node) {
            case .absent(let parent, let key), .gap(let parent, let key): return path(parent) + [key]
            case .list(let parent, let key, _): return path(parent) + (key.map { [$0] } ?? [])
            case .element(let value): return path(value)
            case .line(let parent, let key, _): return path(parent) + [key]
            }
        }
        var result: [DecodingKey] = []
        var container: UInt32 = 0
        while container != node {
            guard let member = member(of: container, holding: node) else { return result }
            result.append(member.key)
            container = member.value
        }
        return result
    }

    /// A member of a container, and its position.
    private struct Cursor {
        var index: UInt32
        var position: Int
    }

    /// The member of a container that is the value or contains it.
    ///
    /// A type that tries several alternatives may cause an error for each element, so each search continues where the
    /// previous one in the same container ended.
    private func member(of container: UInt32, holding node: UInt32) -> (key: DecodingKey, value: UInt32)? {
        let head = document[container]
        guard head.kind == .object || head.kind == .array else { return nil }
        var index = container + 1
        var position = 0
        if let cursor = cursors[container], cursor.index <= node { (index, position) = (cursor.index, cursor.position) }
        while index < head.link {
            keys.work &+= 1
            let value = head.kind == .object ? index + 1 : index
            let end = document.tape.end(of: value)
            if node < end {
                cursors[container] = Cursor(index: index, position: position)
                let key =
                    head.kind == .object ? DecodingKey(document.text(document[index])) : DecodingKey(index: position)
                return (key, value)
            }
            index = end
            position += 1
        }
        return nil
    }

    /// The value at a path; `nil` if the path leads to no value.
    func node(at path: some Sequence<any CodingKey>) -> UInt32? {
        guard document.tape.count > 0 else { return nil }
        var node: UInt32 = 0
        for key in path {
            guard let next = child(of: node, key) else { return nil }
            node = next
        }
        return node
    }

    /// The value of a key. Most are asked for after an error with their path, which ``member(of:holding:)`` has found.
    private func child(of container: UInt32, _ key: any CodingKey) -> UInt32? {
        let head = document[container]
        let cursor = cursors[container]
        var index = container + 1
        var position = 0
        switch head.kind {
        case .object:
            let name = key.stringValue
            if let cursor, document.text(document[cursor.index]) == name { return cursor.index + 1 }
            while index < head.link {
                if document.text(document[index]) == name { return index + 1 }
                index = document.tape.end(of: index + 1)
            }
        case .array:
            if let cursor, cursor.position == key.intValue { return cursor.index }
            while index < head.link {
                if position == key.intValue { return index }
                index = document.tape.end(of: index)
                position += 1
            }
        case .key, .string, .number, .true, .false, .null:
            break
        }
        return nil
    }
}

extension DecodingContext {
    /// The switches of ``DecodingOptions``, in one word.
    struct Rules: OptionSet {
        let rawValue: UInt16
        static let numbersFromText = Rules(rawValue: 1)
        static let textFromNumbers = Rules(rawValue: 2)
        static let booleansFromNumbers = Rules(rawValue: 4)
        static let emptyIsNil = Rules(rawValue: 8)
        static let emptyIsZero = Rules(rawValue: 16)
        static let datesFromText = Rules(rawValue: 32)
        static let repetitions = Rules(rawValue: 64)
        static let absentPortalsAreEmpty = Rules(rawValue: 128)
        static let keysWithoutTable = Rules(rawValue: 256)
        static let customKeys = Rules(rawValue: 512)
        static let recordDecoder = Rules(rawValue: 1024)
        static let numbersAsFileMaker = Rules(rawValue: 2048)
        static let emptyTextIsNil = Rules(rawValue: 4096)

        init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        init(_ options: DecodingOptions) {
            self = []
            if options.numbersFromText { insert(.numbersFromText) }
            if options.numbers == .asFileMaker { insert(.numbersAsFileMaker) }
            if options.emptyTextIsNil { insert(.emptyTextIsNil) }
            if options.textFromNumbers { insert(.textFromNumbers) }
            if options.booleansFromNumbers { insert(.booleansFromNumbers) }
            if options.emptyIsNil { insert(.emptyIsNil) }
            if options.emptyIsZero { insert(.emptyIsZero) }
            if options.datesFromText { insert(.datesFromText) }
            if options.repetitions { insert(.repetitions) }
            if options.absentPortalsAreEmpty { insert(.absentPortalsAreEmpty) }
            switch options.keys {
            case .exact: break
            case .withoutTable: insert(.keysWithoutTable)
            case .custom: insert(.customKeys)
            }
        }
    }
}

extension DecodingContext {
    /// Reads a whole JSON text, whose one value is decoded next.
    func begin(
        whole text: UnsafeRawBufferPointer,
        source: DecodingExplanation.Source = .answer
    ) throws(DecodingFailure) {
        document.append(text)
        do {
            try document.readWhole()
        } catch {
            throw DecodingFailure(error, source: source)
        }
    }

    /// An id. Servers send it as text, some proxies as a number.
    func wireInteger(_ node: UInt32) throws -> Int {
        let entry = entry(node)
        guard entry.kind == .string || entry.kind == .number else { throw mismatch(Int.self, node) }
        let digits = document.content(entry)
        guard NumberText.isLiteral(digits), let number = NumberText.integer(digits, as: Int.self) else {
            throw corrupted(node, .unreadable(wanted: Int.self, form: "integer"))
        }
        return number
    }
}

/// A key of a coding path: a name in the JSON text or a position in an array.
struct DecodingKey: CodingKey, Hashable, Sendable {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }
}
