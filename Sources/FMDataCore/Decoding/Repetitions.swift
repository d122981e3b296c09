/// The repetitions of repeating fields, `name(1)`, `name(2)` …, of one object. They are collected when a key is not
/// found otherwise, and kept until they are requested for another object.
struct Repetitions {
    /// FileMaker's own limit.
    private static let maximumNumber = 32_000

    /// One repetition. The name of its field is in the text, or stored separately if the text has escapes or the user's
    /// strategy makes the names.
    private struct Member {
        var number: Int
        var value: UInt32
        /// The bytes of the field's name in the text.
        var offset: UInt32 = 0
        var length: UInt32 = 0
        var name: String?

        func field(_ tape: TapeView) -> String { name ?? String(decoding: bytes(tape), as: UTF8.self) }

        private func bytes(_ tape: TapeView) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(start: tape.text + Int(offset), count: Int(length))
        }

        func isOf(_ field: String, _ tape: TapeView) -> Bool {
            guard (name?.utf8.count ?? Int(length)) == field.utf8.count else { return false }
            return name?.utf8.elementsEqual(field.utf8) ?? bytes(tape).elementsEqual(field.utf8)
        }
    }

    private var object = JSONTape.none
    private var members: [Member] = []

    mutating func reset() {
        object = JSONTape.none
    }

    /// The repetitions of a field as a list with every value at its position, from the first repetition to the last one
    /// that is there; `nil` if there are none.
    mutating func list(named name: String, in object: UInt32, _ context: DecodingContext) -> UInt32? {
        if object != self.object { collect(object, context) }
        guard !members.isEmpty, var elements = elements(of: name, context) else { return nil }
        if elements.contains(JSONTape.none) {
            let gap = context.add(.gap(parent: object, key: DecodingKey(name)))
            for index in elements.indices where elements[index] == JSONTape.none { elements[index] = gap }
        }
        return context.add(.list(parent: object, key: DecodingKey(name), elements: elements))
    }

    private func elements(of name: String, _ context: DecodingContext) -> [UInt32]? {
        let tape = context.view
        if let elements = elements(where: { $0.isOf(name, tape) }) { return elements }
        // The same rules as for other names: another Unicode form, or without the table, for which the first match
        // counts.
        if name.mayHaveOtherForms, let elements = elements(where: { $0.field(tape) == name }) { return elements }
        guard context.rules.contains(.keysWithoutTable), !name.contains("::"),
            let field = members.lazy.map({ $0.field(tape) }).first(where: { $0.hasSuffix("::" + name) })
        else { return nil }
        return elements { $0.isOf(field, tape) }
    }

    /// The values by position; of two members with the same name, the first one counts.
    private func elements(where belongs: (Member) -> Bool) -> [UInt32]? {
        var elements: [UInt32] = []
        for member in members where belongs(member) {
            while elements.count < member.number { elements.append(JSONTape.none) }
            if elements[member.number - 1] == JSONTape.none { elements[member.number - 1] = member.value }
        }
        return elements.isEmpty ? nil : elements
    }

    private mutating func collect(_ object: UInt32, _ context: DecodingContext) {
        self.object = object
        members.removeAll(keepingCapacity: true)
        if context.rules.contains(.customKeys) {
            for (name, value) in context.customNames(object).list { add(name, value) }
            return
        }
        let tape = context.view
        var index = object + 1
        while index < tape[object].link {
            let key = tape[index]
            context.keys.work &+= 1
            if key.flags.contains(.escaped) {
                add(tape.string(key), index + 1)
            } else if let (length, number) = Repetitions.split(tape.content(key)) {
                members.append(
                    Member(
                        number: number,
                        value: index + 1,
                        offset: key.offset,
                        length: UInt32(truncatingIfNeeded: length)
                    )
                )
            }
            index = tape.end(of: index + 1)
        }
    }

    private mutating func add(_ name: String, _ value: UInt32) {
        var text = name
        guard let (length, number) = text.withUTF8(Repetitions.split) else { return }
        members.append(
            Member(number: number, value: value, name: String(decoding: name.utf8.prefix(length), as: UTF8.self))
        )
    }

    /// Splits `Phone(2)` into the length of `Phone` and 2.
    private static func split(_ name: UnsafeBufferPointer<UInt8>) -> (length: Int, number: Int)? {
        guard name.last == UInt8(ascii: ")") else { return nil }
        var position = name.count - 2
        var number = 0
        var unit = 1
        while position >= 0, name[position] &- UInt8(ascii: "0") < 10, unit <= maximumNumber {
            number += Int(name[position] - UInt8(ascii: "0")) * unit
            unit *= 10
            position -= 1
        }
        guard position >= 0, name[position] == UInt8(ascii: "("), (1...maximumNumber).contains(number),
            name[position + 1] != UInt8(ascii: "0")
        else { return nil }
        return (position, number)
    }
}
