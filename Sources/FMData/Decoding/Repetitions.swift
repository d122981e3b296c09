import Foundation

/// The repetitions of repeating fields, `name(1)`, `name(2)` …, of the objects on the tape: looked for once in each object, when a
/// key was not found otherwise.
struct Repetitions {
    /// As many as FileMaker has.
    private static let maximumNumber = 32_000

    /// The values of a field by the number of the repetition.
    private typealias Fields = [ExactName: [Int: UInt32]]

    private var objects: [UInt32: Fields] = [:]

    mutating func reset() {
        if !objects.isEmpty { objects.removeAll(keepingCapacity: true) }
    }

    /// The repetitions of a field as a list that has every value at its place, from the first repetition to the last one that
    /// is there; `nil` when there are none.
    mutating func list(named name: String, in object: UInt32, _ context: DecodingContext) -> UInt32? {
        let fields = objects[object] ?? collect(object, context)
        guard let values = Repetitions.values(named: name, in: fields), let last = values.keys.max() else { return nil }
        var gap: UInt32?
        let elements = (1...last).map { number in
            if let value = values[number] { return value }
            let node = gap ?? context.add(.gap(parent: object, key: DecodingKey(name)))
            gap = node
            return node
        }
        return context.add(.list(parent: object, key: DecodingKey(name), elements: elements))
    }

    private static func values(named name: String, in fields: Fields) -> [Int: UInt32]? {
        guard !fields.isEmpty else { return nil }
        if let values = fields[ExactName(name)] { return values }
        // As with any other name.
        return name.mayHaveOtherForms ? fields.first { $0.key.text == name }?.value : nil
    }

    private mutating func collect(_ object: UInt32, _ context: DecodingContext) -> Fields {
        var fields: Fields = [:]
        // With the names of fields that may leave out their table: the first field that ends in each.
        var owners: [ExactName: ExactName] = [:]
        func add(_ name: String, _ value: UInt32) {
            guard let (field, number) = Repetitions.split(name) else { return }
            // Of two members of one name the first one counts.
            fields[field, default: [:]].merge([number: value]) { first, _ in first }
            if context.rules.contains(.keysWithoutTable), let colons = field.text.range(of: "::", options: .backwards) {
                let plain = ExactName(String(field.text[colons.upperBound...]))
                if owners[plain] == nil { owners[plain] = field }
            }
        }
        if context.rules.contains(.customKeys) {
            for (name, value) in context.customNames(object).list { add(name, value) }
        } else {
            let tape = context.view
            var index = object + 1
            while index < tape[object].link {
                let key = tape[index]
                context.indices.work &+= 1
                if key.flags.contains(.escaped) || tape.content(key).last == UInt8(ascii: ")") {
                    add(tape.string(key), index + 1)
                }
                index = tape.end(of: index + 1)
            }
        }
        for (plain, field) in owners where fields[plain] == nil { fields[plain] = fields[field] }
        objects[object] = fields
        return fields
    }

    /// `Phone(2)` as `Phone` and 2.
    private static func split(_ name: String) -> (field: ExactName, number: Int)? {
        guard name.utf8.last == UInt8(ascii: ")"), let open = name.utf8.lastIndex(of: UInt8(ascii: "(")) else {
            return nil
        }
        let digits = name[name.utf8.index(after: open)...].dropLast()
        guard digits.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }), digits.utf8.first != UInt8(ascii: "0"),
            let number = Int(digits), number <= maximumNumber
        else { return nil }
        return (ExactName(String(name[..<open])), number)
    }
}
