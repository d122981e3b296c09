/// Writes nodes as JSON text.
enum JSONWriter {
    static func write(_ node: EncodedNode, _ mode: EncodingMode) throws(EncodingFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        try write(node, mode, [], into: &bytes)
        return bytes
    }

    private static func write(
        _ node: EncodedNode,
        _ outer: EncodingMode,
        _ path: [String],
        into bytes: inout [UInt8]
    ) throws(EncodingFailure) {
        let mode = node.mode ?? outer
        switch node.content {
        case .nothing, .omitted:
            // A type that encodes nothing is an object without members.
            bytes += "{}".utf8
        case .literal(let literal):
            bytes += literal.utf8
        case .text(let text):
            write(text, into: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (position, element) in elements.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                try write(element, mode.element, path + ["Index \(position)"], into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            var isFirst = true
            for (name, value) in members {
                let inside = value.mode ?? mode.member(name)
                for (name, value) in try fields(name, value, mode, path) {
                    if !isFirst { bytes.append(UInt8(ascii: ",")) }
                    isFirst = false
                    write(name, into: &bytes)
                    bytes.append(UInt8(ascii: ":"))
                    try write(value, inside, path + [name], into: &bytes)
                }
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// What a member of an object is on the wire: in the `mode` of a record an array is its repetitions, and an object is
    /// nothing that a field could hold.
    private static func fields(
        _ name: String,
        _ value: EncodedNode,
        _ mode: EncodingMode,
        _ path: [String]
    ) throws(EncodingFailure) -> [(name: String, value: EncodedNode)] {
        guard mode.member(name).holdsFields else { return [(name, value)] }
        switch value.content {
        case .literal(let digits) where mode != .fields && DataAPIName.isIdentity(name):
            // The identity of a row is a text on the wire, although it is a number everywhere else.
            value.content = .text(digits)
            return [(name, value)]
        case .literal, .text:
            return [(name, value)]
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

    static func write(_ text: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x20:
                bytes += "\\u00".utf8
                bytes.append(byte >> 4 + UInt8(ascii: "0"))
                let digit = byte & 15
                bytes.append(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a"))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
