// Reading keys, strings, numbers and literals: the scalar part of `readValue`.
extension JSONDocument {
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

    /// The key that begins with the quote at `at`; `nil` when its end has not come yet.
    @inline(__always)
    func readKey(
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ end: Int,
        place: Int
    ) throws(JSONSyntaxError) -> JSONTape.Entry? {
        if place < JSONKeyMemory.limit, let key = keyMemory.entry(at: place, base, at + 1) {
            // A part of it may have been looked at before the rest arrived.
            if reading.stringScan != 0 { reading.endString() }
            return key
        }
        return try readNewKey(base, at, end, place: place)
    }

    private func readNewKey(
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ end: Int,
        place: Int
    ) throws(JSONSyntaxError) -> JSONTape.Entry? {
        guard let string = try readString(base, at, end) else { return nil }
        let key = string.entry(.key, hash: JSONKeys.hash(base + string.start, string.length))
        if place < JSONKeyMemory.limit { keyMemory.learn(key, at: place, base) }
        return key
    }

    /// The string that begins with the quote at `at`; `nil` when its end has not come yet.
    @inline(__always)
    func readString(
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
    func readNumber(
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
    func readLiteral(
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
