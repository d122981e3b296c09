// Reading one value into the tape.
//
// The loop keeps its state in local variables and writes it back when it stops, at the end of the value or where the
// bytes run out. It never steps back further than the start of a number or literal; a string continues after its last
// byte that was read.
extension JSONDocument {
    /// What the grammar allows next.
    enum Expectation {
        case value
        /// A value, or the end of an array that has none.
        case firstElement
        case key
        /// A key, or the end of an object that has none.
        case firstKey
        case colon
        /// A comma or the end of the container.
        case afterValue
    }

    /// The state of a value that is being read.
    struct Reading {
        var expectation = Expectation.value
        /// The innermost open container.
        var open = JSONTape.none
        var depth = 0
        /// How far an unfinished string was scanned, from the start of the value; 0 outside strings.
        var stringScan = 0
        var stringBits: UInt64 = 0
        var stringIsEscaped = false
    }

    enum Progress {
        case complete
        /// The bytes ran out. Append more and continue.
        case starved
    }

    /// Skips white space and returns the next byte; `nil` if it has not arrived.
    func nextByte() -> UInt8? {
        while position < count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            position += 1
        }
        return nil
    }

    /// Begins a new value at the current position.
    func beginValue() {
        startValue()
        tape.count = 0
        reading = Reading()
    }

    /// Continues to read the value begun with ``beginValue()``.
    ///
    /// - Parameter isLast: Whether no more bytes will come, so that a number may end where the bytes end.
    func readValue(isLast: Bool = false) throws(JSONSyntaxError) -> Progress {
        guard try readOn(isLast) == .starved else { return .complete }
        if isLast { throw syntaxError(.truncated, at: count) }
        guard count - valueStart <= limits.maximumValueBytes else {
            throw syntaxError(.tooLarge(limit: limits.maximumValueBytes), at: valueStart)
        }
        return .starved
    }

    private func readOn(_ isLast: Bool) throws(JSONSyntaxError) -> Progress {
        let base = UnsafePointer(bytes) + valueStart
        let end = count - valueStart
        // Positions on the tape are 32 bits wide.
        guard end < Int(UInt32.max) else { throw syntaxError(.tooLarge(limit: Int(UInt32.max)), at: valueStart) }
        var at = position - valueStart
        var expectation = reading.expectation
        var open = reading.open
        var depth = reading.depth
        var tape = tape
        defer {
            self.tape = tape
            position = valueStart + at
            reading.expectation = expectation
            reading.open = open
            reading.depth = depth
        }

        while true {
            var byte = base[at]
            while byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                at &+= 1
                byte = base[at]
            }
            if at >= end { return .starved }

            switch expectation {
            case .key, .firstKey:
                if byte == UInt8(ascii: "\"") {
                    if reading.stringScan == 0 {
                        expectation = try readMembers(&tape, open, base, &at, end)
                        if expectation != .key { continue }
                    }
                    guard let key = try readKey(base, at, end, place: tape.count) else { return .starved }
                    at += Int(key.length) + 2
                    JSONDocument.push(&tape, key)
                    if base[at] == UInt8(ascii: ":") {
                        at += 1
                        expectation = .value
                    } else {
                        expectation = .colon
                    }
                    continue
                }
                guard byte == UInt8(ascii: "}"), expectation == .firstKey else {
                    throw syntaxError(.unexpectedByte, at: valueStart + at)
                }
                at += 1

            case .colon:
                guard byte == UInt8(ascii: ":") else { throw syntaxError(.unexpectedByte, at: valueStart + at) }
                at += 1
                expectation = .value
                continue

            case .value, .firstElement:
                switch byte {
                case UInt8(ascii: "\""):
                    guard let string = try readString(base, at, end) else { return .starved }
                    at = string.next
                    JSONDocument.push(&tape, string.entry(.string, hash: 0))
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    guard let number = try readNumber(base, at, end, isLast) else { return .starved }
                    JSONDocument.push(&tape, number)
                    at &+= Int(number.length)
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    guard depth <= limits.maximumDepth else {
                        throw syntaxError(.tooDeep(limit: limits.maximumDepth), at: valueStart + at)
                    }
                    let isObject = byte == UInt8(ascii: "{")
                    let entry = JSONTape.Entry(
                        offset: UInt32(truncatingIfNeeded: at),
                        length: 0,
                        link: open,
                        kind: isObject ? .object : .array,
                        flags: []
                    )
                    open = UInt32(truncatingIfNeeded: tape.count)
                    JSONDocument.push(&tape, entry)
                    at += 1
                    expectation = isObject ? .firstKey : .firstElement
                    continue
                case UInt8(ascii: "t"):
                    guard try readLiteral("true", base, at, end) else { return .starved }
                    JSONDocument.push(&tape, JSONDocument.literal(.true, at, 4))
                    at += 4
                case UInt8(ascii: "f"):
                    guard try readLiteral("false", base, at, end) else { return .starved }
                    JSONDocument.push(&tape, JSONDocument.literal(.false, at, 5))
                    at += 5
                case UInt8(ascii: "n"):
                    guard try readLiteral("null", base, at, end) else { return .starved }
                    JSONDocument.push(&tape, JSONDocument.literal(.null, at, 4))
                    at += 4
                default:
                    guard byte == UInt8(ascii: "]"), expectation == .firstElement else {
                        throw syntaxError(.unexpectedByte, at: valueStart + at)
                    }
                    at += 1
                    open = try close(&tape, open)
                    depth -= 1
                    if open == JSONTape.none { return .complete }
                    expectation = .afterValue
                    continue
                }
                if open == JSONTape.none { return .complete }
                tape.entries[Int(open)].length &+= 1
                expectation = .afterValue
                continue

            case .afterValue:
                let isObject = tape.entries[Int(open)].kind == .object
                if byte == UInt8(ascii: ",") {
                    at += 1
                    expectation = isObject ? .key : .value
                    continue
                }
                guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw syntaxError(.unexpectedByte, at: valueStart + at)
                }
                at += 1
            }

            // A container ends here.
            open = try close(&tape, open)
            depth -= 1
            if open == JSONTape.none { return .complete }
            expectation = .afterValue
        }
    }

    /// The fast path through an object that has no white space and the same keys at the same places as the record
    /// before. From the quote of a key on, it reads members that are strings or numbers, and stops before anything
    /// else. Returns what the grammar allows next; `.key` means that the next key is unknown.
    @inline(__always)
    private func readMembers(
        _ tape: inout JSONTape,
        _ open: UInt32,
        _ base: UnsafePointer<UInt8>,
        _ at: inout Int,
        _ end: Int
    ) throws(JSONSyntaxError) -> Expectation {
        let keys = keys
        var (written, position) = (tape, at)
        defer { (tape, at) = (written, position) }
        while true {
            guard let key = keys.match(at: written.count, base, position &+ 1) else { return .key }
            JSONDocument.push(&written, key.entry)
            position = key.next
            guard key.hasColon else { return .colon }
            let byte = base[position]
            if byte == UInt8(ascii: "\"") {
                guard let string = try readString(base, position, end) else { return .value }
                position = string.next
                JSONDocument.push(&written, string.entry(.string, hash: 0))
            } else if byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-") {
                guard let number = try readNumber(base, position, end, false) else { return .value }
                JSONDocument.push(&written, number)
                position &+= Int(number.length)
            } else {
                return .value
            }
            written.entries[Int(open)].length &+= 1
            // There are zeros after the end.
            guard base[position] == UInt8(ascii: ","), base[position &+ 1] == UInt8(ascii: "\"") else {
                return .afterValue
            }
            position &+= 1
        }
    }

    // MARK: Tape

    @inline(__always)
    private static func push(_ tape: inout JSONTape, _ entry: JSONTape.Entry) {
        if tape.count == tape.capacity { tape.grow() }
        (tape.entries + tape.count).initialize(to: entry)
        tape.count += 1
    }

    @inline(__always)
    private static func literal(_ kind: JSONTape.Entry.Kind, _ at: Int, _ length: Int) -> JSONTape.Entry {
        JSONTape.Entry(
            offset: UInt32(truncatingIfNeeded: at),
            length: UInt32(truncatingIfNeeded: length),
            link: 0,
            kind: kind,
            flags: []
        )
    }

    /// Closes the open container. Returns the index of its parent, whose number of members rises by one.
    @inline(__always)
    private func close(_ tape: inout JSONTape, _ open: UInt32) throws(JSONSyntaxError) -> UInt32 {
        let entry = tape.entries + Int(open)
        let parent = entry.pointee.link
        entry.pointee.link = UInt32(truncatingIfNeeded: tape.count)
        if entry.pointee.kind == .object, entry.pointee.length > 0,
            keys.mayRepeatKeys(open, tape, bytes + valueStart)
        {
            entry.pointee.flags.insert(.irregular)
            if limits.refusesDuplicateKeys { try refuseDuplicateKey(tape, open) }
        }
        if parent != JSONTape.none { tape.entries[Int(parent)].length += 1 }
        return parent
    }

    private func refuseDuplicateKey(_ tape: JSONTape, _ object: UInt32) throws(JSONSyntaxError) {
        var names: Set<ExactName> = []
        var index = object + 1
        while index < tape.entries[Int(object)].link {
            let key = tape.entries[Int(index)]
            guard names.insert(ExactName(text(key))).inserted else {
                throw syntaxError(.duplicateKey, at: valueStart + Int(key.offset) - 1)
            }
            index = tape.end(of: index + 1)
        }
    }
}

/// An error of a text that is not JSON, or exceeds the limits, with its position.
struct JSONSyntaxError: Error, Hashable {
    enum Reason: Hashable {
        case unexpectedByte
        case truncated
        case invalidNumber
        case numberTooLong
        case controlCharacter
        case invalidEscape
        case loneSurrogate
        case invalidUTF8
        case tooDeep(limit: Int)
        case tooLarge(limit: Int)
        case duplicateKey
        case trailingBytes
        case missingEnvelope
    }

    var reason: Reason
    /// The number of bytes before the fault, from the start of the body.
    var offset: Int
}

extension JSONSyntaxError: CustomStringConvertible {
    var description: String { "\(reason.text) at byte \(offset)" }
}

extension JSONSyntaxError.Reason {
    var text: String {
        switch self {
        case .unexpectedByte: "unexpected character"
        case .truncated: "the text ends too early"
        case .invalidNumber: "not a JSON number"
        case .numberTooLong: "a number of more than \(JSONDocument.maximumNumberBytes) digits"
        case .controlCharacter: "unescaped control character in a string"
        case .invalidEscape: "invalid escape in a string"
        case .loneSurrogate: "half of a surrogate pair in a string"
        case .invalidUTF8: "invalid UTF-8 in a string"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .tooLarge(let limit): "one value of more than \(limit) bytes"
        case .duplicateKey: "a key that the object has already"
        case .trailingBytes: "more text after the end of the value"
        case .missingEnvelope: "no Data API envelope (an object with \"response\" and \"messages\")"
        }
    }
}
