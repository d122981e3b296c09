// Reading one value into the tape.
//
// The loop keeps everything it needs in local variables and writes it back when it stops: at the end of the value, or
// where the bytes run out. It never steps back further than the start of a number or a literal; a string goes on where
// its last byte was looked at.
extension JSONDocument {
    /// What may come next.
    enum Step {
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

    /// A value that is being read.
    struct Reading {
        var step = Step.value
        /// The innermost open container.
        var open = JSONTape.none
        var depth = 0
        /// How far a string that has not ended was looked at, from the start of the value; 0 outside strings.
        var stringScan = 0
        var stringBits: UInt64 = 0
        var stringIsEscaped = false
    }

    enum Progress {
        case complete
        /// The bytes ran out; append some and go on.
        case starved
    }

    /// Skips white space; the next byte, or `nil` when there is none yet.
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

    /// Reads on in the value begun with ``beginValue()``.
    ///
    /// - Parameter isLast: No more bytes will come: a number may end where the bytes end.
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
        var step = reading.step
        var open = reading.open
        var depth = reading.depth
        var tape = tape
        defer {
            self.tape = tape
            position = valueStart + at
            reading.step = step
            reading.open = open
            reading.depth = depth
        }

        while true {
            var byte = base[at]
            while byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                at += 1
                byte = base[at]
            }
            if at >= end { return .starved }

            switch step {
            case .key, .firstKey:
                if byte == UInt8(ascii: "\"") {
                    guard let string = try readString(base, at, end) else { return .starved }
                    at = string.next
                    JSONDocument.push(
                        &tape,
                        string.entry(.key, hash: JSONKeys.hash(base + string.start, string.length))
                    )
                    if base[at] == UInt8(ascii: ":") {
                        at += 1
                        step = .value
                    } else {
                        step = .colon
                    }
                    continue
                }
                guard byte == UInt8(ascii: "}"), step == .firstKey else {
                    throw syntaxError(.unexpectedByte, at: valueStart + at)
                }
                at += 1

            case .colon:
                guard byte == UInt8(ascii: ":") else { throw syntaxError(.unexpectedByte, at: valueStart + at) }
                at += 1
                step = .value
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
                    at += Int(number.length)
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
                    step = isObject ? .firstKey : .firstElement
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
                    guard byte == UInt8(ascii: "]"), step == .firstElement else {
                        throw syntaxError(.unexpectedByte, at: valueStart + at)
                    }
                    at += 1
                    open = try close(&tape, open)
                    depth -= 1
                    if open == JSONTape.none { return .complete }
                    step = .afterValue
                    continue
                }
                if open == JSONTape.none { return .complete }
                tape.entries[Int(open)].length += 1
                step = .afterValue
                continue

            case .afterValue:
                let isObject = tape.entries[Int(open)].kind == .object
                if byte == UInt8(ascii: ",") {
                    at += 1
                    step = isObject ? .key : .value
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
            step = .afterValue
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

    /// Ends the open container; the index of the one around it, which has one member more now.
    @inline(__always)
    private func close(_ tape: inout JSONTape, _ open: UInt32) throws(JSONSyntaxError) -> UInt32 {
        let entry = tape.entries + Int(open)
        let parent = entry.pointee.link
        entry.pointee.link = UInt32(truncatingIfNeeded: tape.count)
        if entry.pointee.kind == .object, entry.pointee.length > 0, keys.mayRepeat(tape, open, bytes + valueStart) {
            entry.pointee.flags.insert(.irregular)
            if limits.refusesDuplicateKeys { try refuseDuplicateKey(tape, open) }
        }
        if parent != JSONTape.none { tape.entries[Int(parent)].length += 1 }
        return parent
    }

    private func refuseDuplicateKey(_ tape: JSONTape, _ object: UInt32) throws(JSONSyntaxError) {
        var names: Set<String> = []
        var index = object + 1
        while index < tape.entries[Int(object)].link {
            let key = tape.entries[Int(index)]
            guard names.insert(text(key)).inserted else {
                throw syntaxError(.duplicateKey, at: valueStart + Int(key.offset) - 1)
            }
            index = tape.end(of: index + 1)
        }
    }

    // MARK: Scalars

    /// A string that has ended.
    struct StringToken {
        var start: Int
        var length: Int
        var flags: JSONTape.Entry.Flags
        var next: Int { start + length + 1 }

        @inline(__always)
        func entry(_ kind: JSONTape.Entry.Kind, hash: UInt32) -> JSONTape.Entry {
            JSONTape.Entry(
                offset: UInt32(truncatingIfNeeded: start),
                length: UInt32(truncatingIfNeeded: length),
                link: hash,
                kind: kind,
                flags: flags
            )
        }
    }

    /// The string that begins with the quote at `at`; `nil` when its end has not come yet.
    @inline(__always)
    private func readString(
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ end: Int
    ) throws(JSONSyntaxError) -> StringToken? {
        var scan = reading.stringScan == 0 ? at + 1 : reading.stringScan
        var bits = reading.stringBits
        var isEscaped = reading.stringIsEscaped
        let stop = JSONDocument.scanString(base, &scan, end, &bits, &isEscaped)
        if stop != UInt8(ascii: "\"") {
            return try pauseString(stop, base, at, &scan, end, bits, isEscaped)
        }
        if reading.stringScan != 0 { reading.endString() }
        var token = StringToken(start: at + 1, length: scan - at - 1, flags: [])
        if bits & 0x8080_8080_8080_8080 != 0 { token.flags.insert(.nonASCII) }
        if isEscaped { token.flags.insert(.escaped) }
        if !token.flags.isEmpty, !limits.repairsText { try check(base, token) }
        return token
    }

    /// The string does not end here: it goes on with the next bytes, or is none.
    private func pauseString(
        _ stop: UInt8,
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ scan: inout Int,
        _ end: Int,
        _ bits: UInt64,
        _ isEscaped: Bool
    ) throws(JSONSyntaxError) -> StringToken? {
        var (bits, isEscaped, stop) = (bits, isEscaped, stop)
        while scan < end, stop != UInt8(ascii: "\\") {
            if stop == UInt8(ascii: "\"") {
                reading.endString()
                var flags: JSONTape.Entry.Flags = isEscaped ? [.escaped] : []
                if bits & 0x8080_8080_8080_8080 != 0 { flags.insert(.nonASCII) }
                return StringToken(start: at + 1, length: scan - at - 1, flags: flags)
            }
            guard limits.repairsText else { throw syntaxError(.controlCharacter, at: valueStart + scan) }
            scan += 1
            stop = JSONDocument.scanString(base, &scan, end, &bits, &isEscaped)
        }
        reading.stringScan = scan
        reading.stringBits = bits
        reading.stringIsEscaped = isEscaped
        return nil
    }

    private func check(_ base: UnsafePointer<UInt8>, _ token: StringToken) throws(JSONSyntaxError) {
        let text = UnsafeBufferPointer(start: base + token.start, count: token.length)
        guard let (problem, at) = JSONText.problem(in: text) else { return }
        let reason: JSONSyntaxError.Reason =
            switch problem {
            case .invalidEscape: .invalidEscape
            case .loneSurrogate: .loneSurrogate
            case .invalidUTF8: .invalidUTF8
            }
        throw syntaxError(reason, at: valueStart + token.start + at)
    }

    /// Moves `scan` to the quote that ends the string, to a control character, to the end of the bytes or to a backslash
    /// that is the last of them; the byte there. Eight bytes at a time: each of the three tests sets the high bit of the
    /// bytes it finds, exactly up to the first one.
    @inline(__always)
    private static func scanString(
        _ base: UnsafePointer<UInt8>,
        _ scan: inout Int,
        _ end: Int,
        _ bits: inout UInt64,
        _ isEscaped: inout Bool
    ) -> UInt8 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while true {
            // The padding makes this safe at the end, and its zeros stop the loop.
            let word = UInt64(littleEndian: UnsafeRawPointer(base + scan).loadUnaligned(as: UInt64.self))
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found =
                ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word) & highs
            if found == 0 {
                bits |= word
                scan += 8
                continue
            }
            let bytesBefore = found.trailingZeroBitCount >> 3
            bits |= word & ((1 &<< UInt64(bytesBefore &* 8)) &- 1)
            scan += bytesBefore
            let stop = base[scan]
            guard stop == UInt8(ascii: "\\") else { return stop }
            isEscaped = true
            guard scan + 1 < end else { return stop }
            bits |= UInt64(base[scan + 1])
            scan += 2
        }
    }

    /// The number at `at`; `nil` when more of it may come.
    @inline(__always)
    private func readNumber(
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ end: Int,
        _ isLast: Bool
    ) throws(JSONSyntaxError) -> JSONTape.Entry? {
        var scan = at
        var flags: JSONTape.Entry.Flags = []
        if base[scan] == UInt8(ascii: "-") { scan += 1 }
        let first = scan
        var isComplete = JSONDocument.skipDigits(base, &scan)
        if base[first] == UInt8(ascii: "0"), scan - first > 1 { throw syntaxError(.invalidNumber, at: valueStart + at) }
        if isComplete, base[scan] == UInt8(ascii: ".") {
            flags = .fractional
            scan += 1
            isComplete = JSONDocument.skipDigits(base, &scan)
        }
        if isComplete, base[scan] | 0x20 == UInt8(ascii: "e") {
            flags = .fractional
            scan += 1
            if base[scan] == UInt8(ascii: "+") || base[scan] == UInt8(ascii: "-") { scan += 1 }
            isComplete = JSONDocument.skipDigits(base, &scan)
        }
        guard scan - at <= JSONDocument.maximumNumberBytes else {
            throw syntaxError(.numberTooLong, at: valueStart + at)
        }
        if scan >= end, !(isLast && isComplete) { return nil }
        guard isComplete else { throw syntaxError(.invalidNumber, at: valueStart + at) }
        return JSONTape.Entry(
            offset: UInt32(truncatingIfNeeded: at),
            length: UInt32(truncatingIfNeeded: scan - at),
            link: 0,
            kind: .number,
            flags: flags
        )
    }

    /// Whether there was a digit.
    @inline(__always)
    private static func skipDigits(_ base: UnsafePointer<UInt8>, _ scan: inout Int) -> Bool {
        let start = scan
        while base[scan] &- UInt8(ascii: "0") < 10 { scan += 1 }
        return scan > start
    }

    /// `false` when the rest of the word has not come yet.
    private func readLiteral(
        _ word: StaticString,
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ end: Int
    ) throws(JSONSyntaxError) -> Bool {
        for index in 0..<word.utf8CodeUnitCount {
            guard at + index < end else { return false }
            guard base[at + index] == word.utf8Start[index] else {
                throw syntaxError(.unexpectedByte, at: valueStart + at + index)
            }
        }
        return true
    }
}

extension JSONDocument.Reading {
    fileprivate mutating func endString() {
        stringScan = 0
        stringBits = 0
        stringIsEscaped = false
    }
}
