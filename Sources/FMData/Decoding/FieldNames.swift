// Names in `fieldData` that are not spelled like the coding key: repetitions, related fields, strategies.
extension DecodingContext {
    /// What a key means when no member has exactly its name.
    func value(
        named name: String,
        in object: UInt32,
        _ mode: Mode,
        _ names: [(name: String, value: UInt32)]?
    ) -> UInt32? {
        if let value = member(named: name, in: object, mode, names) { return value }
        guard mode == .fields, rules.contains(.repetitions) else { return nil }
        return repetitions(named: name, in: object, mode, names)
    }

    private func member(
        named name: String,
        in object: UInt32,
        _ mode: Mode,
        _ names: [(name: String, value: UInt32)]?
    ) -> UInt32? {
        if let names { return names.first { $0.name == name }?.value }
        if let value = KeyLookups.find(name, object, document) { return value }
        guard mode == .fields, rules.contains(.keysWithoutTable), !name.contains("::") else { return nil }
        return KeyLookups.find(after: "::", name, object, document)
    }

    // MARK: Repetitions

    /// `name(1)`, `name(2)` … as a list.
    private func repetitions(
        named name: String,
        in object: UInt32,
        _ mode: Mode,
        _ names: [(name: String, value: UInt32)]?
    ) -> UInt32? {
        var elements: [UInt32] = []
        while let value = member(named: "\(name)(\(elements.count + 1))", in: object, mode, names) {
            elements.append(value)
        }
        guard !elements.isEmpty else { return nil }
        return add(.list(parent: object, key: DecodingKey(name), elements: elements))
    }

    /// A single value as a list, where an array is wanted: a repeating field of which the layout shows one repetition.
    func singleRepetition(_ node: UInt32, _ mode: Mode) -> UInt32? {
        guard mode == .fields, rules.contains(.repetitions) else { return nil }
        switch entry(node).kind {
        case .string, .number, .true, .false:
            return add(.list(parent: node, key: DecodingKey(index: 0), elements: [node]))
        case .object, .array, .key, .null:
            return nil
        }
    }

    // MARK: Portals

    /// The rows of a portal that is not there.
    func absentList(_ type: Any.Type, _ key: some CodingKey, _ object: UInt32, _ mode: Mode) -> UInt32? {
        guard mode == .portals, rules.contains(.absentPortalsAreEmpty), type is any ListValue.Type else { return nil }
        return add(.list(parent: object, key: DecodingKey(key.stringValue), elements: []))
    }

    // MARK: Strategies

    /// The members of an object under the names that the user's strategy gives them.
    func customNames(_ object: UInt32) -> [(name: String, value: UInt32)] {
        guard case .custom(let convert) = options.keys else { return [] }
        var names: [(name: String, value: UInt32)] = []
        let end = document[object].link
        var index = object + 1
        while index < end {
            names.append((convert(document.text(document[index])), index + 1))
            index = document.tape.end(of: index + 1)
        }
        return names
    }
}
