extension EncodedNode {
    /// The JSON to send for the node, by FileMaker's rules where it is a record.
    ///
    /// - Parameter outer: the mode, unless the node has its own.
    func wireValue(_ outer: EncodingMode, _ path: [String] = []) throws(EncodingFailure) -> WireValue {
        let mode = mode ?? outer
        switch content {
        case .nothing, .omitted:
            // A type that encodes nothing becomes an object without members.
            return .object([])
        case .literal(let literal):
            return .literal(literal)
        case .text(let text):
            return .text(text)
        case .array(let elements):
            var values: [WireValue] = []
            values.reserveCapacity(elements.count)
            for (position, element) in elements.enumerated() {
                values.append(try element.wireValue(mode.element, path + ["Index \(position)"]))
            }
            return .array(values)
        case .object(let members):
            var written: [WireValue.Member] = []
            written.reserveCapacity(members.count)
            for (name, node) in members {
                let inside = node.mode ?? mode.member(name)
                for (name, node) in try Self.fields(name, node, mode, path) {
                    written.append(WireValue.Member(name: name, value: try node.wireValue(inside, path + [name])))
                }
            }
            return .object(written)
        }
    }

    /// The members to send for a member of an object. In the `mode` of a record, an array becomes the repetitions of
    /// its field, and an object is refused because no field can hold one.
    private static func fields(
        _ name: String,
        _ node: EncodedNode,
        _ mode: EncodingMode,
        _ path: [String]
    ) throws(EncodingFailure) -> [(name: String, node: EncodedNode)] {
        guard mode.member(name).holdsFields else { return [(name, node)] }
        switch node.content {
        case .literal(let digits) where mode != .fields && DataAPIName.isIdentity(name):
            // The Data API expects the ids of a row as texts, although they are numbers everywhere else.
            node.content = .text(digits)
            return [(name, node)]
        case .literal, .text:
            return [(name, node)]
        case .array(let elements):
            guard elements.allSatisfy(\.isScalar) else {
                throw EncodingFailure(path: path + [name], reason: "a repetition holds one value", underlying: nil)
            }
            return elements.enumerated().filter { !$1.isOmitted }.map { ("\(name)(\($0 + 1))", $1) }
        case .omitted:
            return []
        case .object, .nothing:
            throw EncodingFailure(path: path + [name], reason: "a field cannot hold an object", underlying: nil)
        }
    }
}
