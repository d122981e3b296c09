/// A value being encoded to JSON. Containers may be filled in any order and alternately, so the text is written at the
/// end.
final class EncodedNode {
    enum Content {
        /// Nothing was encoded.
        case nothing
        /// A `nil` whose field or repetition is not sent, so that it keeps its value.
        case omitted
        /// A number, `true`, `false` or `null`.
        case literal(String)
        case text(String)
        case object([(name: String, value: EncodedNode)])
        case array([EncodedNode])
    }

    var content = Content.nothing
    /// How the members are written, if it differs from the mode of the value itself, as for the portals of a plain JSON
    /// body.
    var mode: EncodingMode?

    /// The position of each member of an object.
    private var places: [ExactName: Int] = [:]

    /// Makes the node an object, if it is not one.
    func beginObject() {
        if case .object = content { return }
        content = .object([])
    }

    /// Makes the node an array, if it is not one.
    func beginArray() {
        if case .array = content { return }
        content = .array([])
    }

    /// Adds a member and returns its node. A member with the same name is replaced at its position.
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

    /// Adds an element at the end and returns its node.
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

/// The part of a request that a value belongs to, which decides how it is written.
package enum EncodingMode: Hashable {
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

    /// Whether FileMaker's rules apply to values here.
    var holdsFields: Bool {
        switch self {
        case .fields, .row: true
        case .plain, .portals, .rows: false
        }
    }
}
