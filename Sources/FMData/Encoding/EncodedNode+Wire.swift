extension EncodedNode {
    /// What the node is on the wire, by FileMaker's rules where it is a record.
    ///
    /// - Parameter outer: what it is, unless it says so itself.
    func wireValue(_ outer: EncodingMode, _ path: [String] = []) throws(EncodingFailure) -> WireValue {
        let mode = mode ?? outer
        switch content {
        case .nothing, .omitted:
            // A type that encodes nothing is an object without members.
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

    /// What a member of an object is on the wire: in the `mode` of a record an array is its repetitions, and an object is
    /// nothing that a field could hold.
    private static func fields(
        _ name: String,
        _ node: EncodedNode,
        _ mode: EncodingMode,
        _ path: [String]
    ) throws(EncodingFailure) -> [(name: String, node: EncodedNode)] {
        guard mode.member(name).holdsFields else { return [(name, node)] }
        switch node.content {
        case .literal(let digits) where mode != .fields && DataAPIName.isIdentity(name):
            // The identity of a row is a text on the wire, although it is a number everywhere else.
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
