// Finds the member for a key that is not at its expected place: elsewhere in the object, spelled differently, a
// repetition, a related field, or named by a strategy.
extension DecodingContext {
    /// The value for a key in an object; `nil` if there is none.
    ///
    /// - Parameter asker: the number of the key type, from ``KeyMemory/beginAsking(_:_:)``.
    func value(
        named name: String,
        in object: UInt32,
        _ mode: Mode,
        asker: UInt8? = nil
    ) -> UInt32? {
        if let value = member(named: name, in: object, mode, asker: asker) { return value }
        guard mode == .fields, rules.contains(.repetitions) else { return nil }
        return repetitions.list(named: name, in: object, self)
    }

    private func member(
        named name: String,
        in object: UInt32,
        _ mode: Mode,
        asker: UInt8? = nil
    ) -> UInt32? {
        if mode == .portals, let value = portalNames[object]?.numbered.values[ExactName(name)] { return value }
        if mode == .fields, rules.contains(.customKeys) { return customMember(named: name, in: object) }
        if let value = exactMember(named: name, in: object, asker) { return value }
        guard mode == .fields, rules.contains(.keysWithoutTable), !name.contains("::") else { return nil }
        let suffix = "::" + name
        return first(in: object) { key in
            Int(key.length) > suffix.utf8.count && document.text(key).hasSuffix(suffix)
        }
    }

    private func exactMember(named name: String, in object: UInt32, _ asker: UInt8?) -> UInt32? {
        if let key = keys.search(name, in: object, asker: asker, view) { return key + 1 }
        // A server may send accents decomposed that are composed in the source code.
        guard name.mayHaveOtherForms else { return nil }
        return first(in: object) { !$0.flags.isDisjoint(with: [.nonASCII, .escaped]) && document.text($0) == name }
    }

    private func first(in object: UInt32, where matches: (JSONTape.Entry) -> Bool) -> UInt32? {
        let end = document[object].link
        var index = object + 1
        while index < end {
            keys.work &+= 1
            if matches(document[index]) { return index + 1 }
            index = document.tape.end(of: index + 1)
        }
        return nil
    }

    // MARK: Repetitions

    /// The list to read where an array is wanted: the repetitions, or the one value of a repeating field of which the
    /// layout shows a single repetition. `nil` if the value is not a list in this sense.
    ///
    /// Empty repetitions at the end are left out if the element type has no value for them.
    func filledList(_ node: UInt32, _ mode: Mode, for type: any Any.Type) -> UInt32? {
        guard let elements = list(node) ?? singleRepetition(node, mode) else { return nil }
        var filled = elements[...]
        if let last = filled.last, isEmptyField(entry(last), mode), let list = type as? any ListValue.Type,
            !hasEmptyValue(list.element, last)
        {
            while let last = filled.last, isEmptyField(entry(last), mode) { filled.removeLast() }
        }
        if filled.count == list(node)?.count { return node }
        return add(.list(parent: node, key: nil, elements: Array(filled)))
    }

    private func singleRepetition(_ node: UInt32, _ mode: Mode) -> [UInt32]? {
        guard mode == .fields, rules.contains(.repetitions), isOnTape(node) else { return nil }
        switch entry(node).kind {
        case .string, .number, .true, .false: return [add(.element(node))]
        case .object, .array, .key, .null: return nil
        }
    }

    // MARK: Portals

    /// The rows of a portal in an answer without portals. If there are other portals, the key is more likely a wrong
    /// name.
    func absentList(_ type: Any.Type, _ key: some CodingKey, _ object: UInt32, _ mode: Mode) -> UInt32? {
        guard mode == .portals, document[object].length == 0, rules.contains(.absentPortalsAreEmpty),
            type is any ListValue.Type
        else { return nil }
        return add(.list(parent: object, key: DecodingKey(key.stringValue), elements: []))
    }

    /// The names of all portals, for a type that reads whatever is there, as a dictionary does. Two portals of one
    /// table without object names come under one name; the second is listed as "Phones(2)", so that no rows are lost
    /// or mixed.
    func listPortals(_ object: UInt32) -> [String] {
        var names = portalNames(object)
        names.areListed = true
        portalNames[object] = names
        return names.numbered.list.map(\.name)
    }

    /// Refuses to take the rows of one portal for those of two, unless the type has seen that there are two.
    func checkPortal(named name: String, in object: UInt32) throws {
        let names = portalNames(object)
        guard names.repeated.contains(ExactName(name)), !names.areListed else { return }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: codingPath(object) + [DecodingKey(name)], cause: .samePortal)
        )
    }

    /// The portals of an object, which is gone through once, however many of them are read.
    private func portalNames(_ object: UInt32) -> PortalNames {
        if let names = portalNames[object] { return names }
        var portals: [(name: String, value: UInt32)] = []
        var index = object + 1
        while index < document[object].link {
            keys.work &+= 1
            portals.append((document.text(document[index]), index + 1))
            index = document.tape.end(of: index + 1)
        }
        let names = PortalNames(portals)
        portalNames[object] = names
        return names
    }

    // MARK: Strategies

    private func customMember(named name: String, in object: UInt32) -> UInt32? {
        let names = customNames(object)
        if let value = names.values[ExactName(name)] { return value }
        guard name.mayHaveOtherForms else { return nil }
        keys.work &+= names.list.count
        return names.list.first { $0.name == name }?.value
    }

    /// The members of an object under the names that the user's strategy gives them, first ones first.
    func customNames(_ object: UInt32) -> CustomNames {
        if let names = customNames[object] { return names }
        var names = CustomNames()
        guard case .custom(let convert) = options.keys else { return names }
        let end = document[object].link
        var index = object + 1
        while index < end {
            keys.work &+= 1
            names.add(converted(document.text(document[index]), convert), index + 1)
            index = document.tape.end(of: index + 1)
        }
        customNames[object] = names
        return names
    }

    /// The user's function runs once for each name, not once for each record.
    private func converted(_ name: String, _ convert: (String) -> String) -> String {
        if let converted = convertedNames[ExactName(name)] { return converted }
        if convertedNames.count == 10_000 { convertedNames.removeAll() }
        let converted = convert(name)
        convertedNames[ExactName(name)] = converted
        return converted
    }
}

/// The members of an object under the names that a strategy of the user's gives them.
struct CustomNames {
    /// In the order of the text.
    private(set) var list: [(name: String, value: UInt32)] = []
    /// The first member of each name.
    private(set) var values: [ExactName: UInt32] = [:]

    fileprivate mutating func add(_ name: String, _ value: UInt32) {
        list.append((name, value))
        if values[ExactName(name)] == nil { values[ExactName(name)] = value }
    }
}

/// The portals of a record, of which several may have come under one name.
struct PortalNames {
    /// Each portal once: the second of a name has "(2)" behind it.
    private(set) var numbered = CustomNames()
    /// The names that came more than once.
    private(set) var repeated: Set<ExactName> = []
    /// Whether the type has asked for all names.
    var areListed = false

    init(_ portals: [(name: String, value: UInt32)]) {
        let real = Set(portals.map { ExactName($0.name) })
        var counts: [ExactName: Int] = [:]
        for (name, value) in portals {
            var number = counts[ExactName(name), default: 0] + 1
            // A portal may really have the name "Phones(2)".
            while number > 1, real.contains(ExactName("\(name)(\(number))")) { number += 1 }
            counts[ExactName(name)] = number
            if number > 1 { repeated.insert(ExactName(name)) }
            numbered.add(number == 1 ? name : "\(name)(\(number))", value)
        }
    }
}

/// A name that is compared by its bytes. `String` treats the two Unicode forms of an accented letter as equal, but in a
/// file they may be the names of two fields.
package struct ExactName: Hashable, Sendable {
    let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactName, right: ExactName) -> Bool {
        var (left, right) = (left.text, right.text)
        // The view of UTF-8 would be compared through its iterator.
        return left.withUTF8 { left in
            right.withUTF8 { right in left.count == right.count && left.elementsEqual(right) }
        }
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether the same name may be spelled with other bytes.
    var mayHaveOtherForms: Bool { utf8.contains { $0 >= 0x80 } }
}
