/// A value on its way to JSON. Containers may be filled in any order and in turns, so the text is written at the end.
final class EncodedNode {
    enum Content {
        /// Nothing was encoded.
        case nothing
        /// A `nil` that is to leave its field, or the repetition of one, alone.
        case omitted
        /// A number, `true`, `false` or `null`.
        case literal(String)
        case text(String)
        case object([(name: String, value: EncodedNode)])
        case array([EncodedNode])
    }

    var content = Content.nothing
    /// How the members are written, where that is another way than the value's own: the portals of a plain JSON body, for
    /// example.
    var mode: EncodingMode?

    /// Where each member of an object is.
    private var places: [ExactName: Int] = [:]

    /// Makes the node an object, if it is none.
    func beginObject() {
        if case .object = content { return }
        content = .object([])
    }

    /// Makes the node an array, if it is none.
    func beginArray() {
        if case .array = content { return }
        content = .array([])
    }

    /// A new member in the place of one of the same name.
    func member(_ name: String) -> EncodedNode {
        let node = EncodedNode()
        guard case .object(var members) = content else { return node }
        content = .nothing
        if let place = places[ExactName(name)] {
            members[place].value = node
        } else {
            places[ExactName(name)] = members.count
            members.append((name, node))
        }
        content = .object(members)
        return node
    }

    /// A new element at the end.
    func element() -> EncodedNode {
        let node = EncodedNode()
        guard case .array(var elements) = content else { return node }
        content = .nothing
        elements.append(node)
        content = .array(elements)
        return node
    }

    var isScalar: Bool {
        switch content {
        case .literal, .text, .omitted: true
        case .nothing, .object, .array: false
        }
    }

    var isOmitted: Bool {
        if case .omitted = content { true } else { false }
    }

    var count: Int {
        switch content {
        case .object(let members): members.count
        case .array(let elements): elements.count
        case .nothing, .omitted, .literal, .text: 0
        }
    }
}

/// What a value is part of, and so how it is written.
enum EncodingMode: Hashable {
    /// Plain JSON.
    case plain
    /// The fields of a record.
    case fields
    /// The fields of a row of a portal.
    case row(portal: String)
    /// Portals by name.
    case portals
    /// The rows of one portal.
    case rows(portal: String)

    /// The mode of a member.
    func member(_ name: String) -> EncodingMode {
        switch self {
        case .portals: .rows(portal: name)
        case .fields where DataAPIName.isInstruction(name): .plain
        case .plain, .fields, .row, .rows: self
        }
    }

    /// The mode of an element.
    var element: EncodingMode {
        if case .rows(let portal) = self { .row(portal: portal) } else { self }
    }

    /// Whether FileMaker's rules hold for values here.
    var holdsFields: Bool {
        switch self {
        case .fields, .row: true
        case .plain, .portals, .rows: false
        }
    }
}

/// Names that belong to the Data API and not to the layout.
enum DataAPIName {
    /// Whether a row's member is its own identity and no field.
    static func isIdentity(_ name: String) -> Bool { name == "recordId" || name == "modId" }

    /// Whether a member of `fieldData` tells the server to do something and is no field.
    static func isInstruction(_ name: String) -> Bool { name == "deleteRelated" }
}
