// Reading keys, strings, numbers and literals: the scalar part of `readValue`.
extension JSONDocument {
    /// A string whose end was found.
    struct StringToken {
        var start: Int
        var length: Int
        var flags: JSONTape.Entry.Flags
        var next: Int { start &+ length &+ 1 }

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

    /// The key whose opening quote is at `at`, if it is another one than last time at its place; `nil` if its end has
    /// not arrived.
    func readKey(
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ end: Int,
        place: Int
    ) throws(JSONSyntaxError) -> JSONTape.Entry? {
        guard let string = try readString(base, at, end) else { return nil }
        if let known = keys.match(at: place, base, at + 1) { return known.entry }
        let key = string.entry(.key, hash: KeyMemory.hash(base + string.start, string.length))
        keys.learn(key, at: place, base)
        return key
    }

    /// The string whose opening quote is at `at`; `nil` if its end has not arrived.
    @inline(__always)
    func readString(
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ end: Int
    ) throws(JSONSyntaxError) -> StringToken? {
        var scan = reading.stringScan == 0 ? at &+ 1 : reading.stringScan
        var bits = reading.stringBits
        var isEscaped = reading.stringIsEscaped
        let stop = JSONDocument.scanString(base, &scan, end, &bits, &isEscaped)
        if stop != UInt8(ascii: "\"") {
            return try pauseString(stop, base, at, &scan, end, bits, isEscaped)
        }
        if reading.stringScan != 0 { reading.endString() }
        return try token(base, at, scan, bits, isEscaped)
    }

    /// The string between two quotes. Strings with escapes or bytes beyond ASCII are checked.
    @inline(__always)
    private func token(
        _ base: UnsafePointer<UInt8>,
        _ opening: Int,
        _ closing: Int,
        _ bits: UInt64,
        _ isEscaped: Bool
    ) throws(JSONSyntaxError) -> StringToken {
        var token = StringToken(start: opening &+ 1, length: closing &- opening &- 1, flags: [])
        if bits & 0x8080_8080_8080_8080 != 0 { token.flags.insert(.nonASCII) }
        if isEscaped { token.flags.insert(.escaped) }
        if !token.flags.isEmpty {
            if limits.repairsText {
                token.flags.insert(.unchecked)
            } else {
                try check(base, token)
            }
        }
        return token
    }

    /// The scan stopped before the closing quote: the string continues with the next bytes, or is malformed.
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
                return try token(base, at, scan, bits, isEscaped)
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

    /// Moves `scan` to the closing quote, a control character, the end of the bytes, or a backslash that is the last
    /// byte, and returns the byte there. It compares sixteen bytes at a time, which covers most strings in one step.
    @inline(__always)
    private static func scanString(
        _ base: UnsafePointer<UInt8>,
        _ scan: inout Int,
        _ end: Int,
        _ bits: inout UInt64,
        _ isEscaped: inout Bool
    ) -> UInt8 {
        // The types are written out: for other operand types, these operators compare the bytes one by one.
        let quotes = SIMD16<UInt8>(repeating: UInt8(ascii: "\""))
        let backslashes = SIMD16<UInt8>(repeating: UInt8(ascii: "\\"))
        let controls = SIMD16<UInt8>(repeating: 0x20)
        while true {
            // The padding makes this safe at the end, and its zeros stop the loop.
            let block = UnsafeRawPointer(base + scan).loadUnaligned(as: SIMD16<UInt8>.self)
            let stops = (block .== quotes) .| (block .== backslashes) .| (block .< controls)
            // The mark bytes are all ones where a byte stops the scan. As two words, the lowest set bit belongs to the
            // first such byte. A branch on which word contains it would be unpredictable, so there is none.
            let marks = SIMD16<UInt8>().replacing(with: .max, where: stops)
            let found = unsafeBitCast(marks, to: SIMD2<UInt64>.self)
            let words = unsafeBitCast(block, to: SIMD2<UInt64>.self)
            if found[0] | found[1] == 0 {
                bits |= words[0] | words[1]
                scan &+= 16
                continue
            }
            let (first, second) = (UInt64(littleEndian: found[0]), UInt64(littleEndian: found[1]))
            let isSecond = UInt64(truncatingIfNeeded: first.trailingZeroBitCount &>> 6)
            bits |= UInt64(littleEndian: words[0]) & (first &- 1) & ~first
            bits |= UInt64(littleEndian: words[1]) & (second &- 1) & ~second & (0 &- isSecond)
            let bitsBefore =
                UInt64(truncatingIfNeeded: first.trailingZeroBitCount)
                &+ UInt64(truncatingIfNeeded: second.trailingZeroBitCount) & (0 &- isSecond)
            scan &+= Int(truncatingIfNeeded: bitsBefore &>> 3)
            let stop = base[scan]
            guard stop == UInt8(ascii: "\\") else { return stop }
            isEscaped = true
            guard scan &+ 1 < end else { return stop }
            bits |= UInt64(base[scan &+ 1])
            scan &+= 2
        }
    }

    /// The number at `at`; `nil` if more of it may come.
    ///
    /// The digits are read here anyway, so the value of a small number is stored and not read a second time.
    @inline(__always)
    func readNumber(
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ end: Int,
        _ isLast: Bool
    ) throws(JSONSyntaxError) -> JSONTape.Entry? {
        var scan = at
        var flags: JSONTape.Entry.Flags = []
        if base[scan] == UInt8(ascii: "-") {
            flags = .negative
            scan &+= 1
        }
        let first = scan
        // Nineteen digits fit. The value of longer numbers is not used.
        var digits: UInt64 = 0
        var scale = 0
        var isComplete = JSONDocument.readDigits(base, &scan, &digits)
        if base[first] == UInt8(ascii: "0"), scan &- first > 1 {
            throw syntaxError(.invalidNumber, at: valueStart + at)
        }
        var digitCount = scan &- first
        if isComplete, base[scan] == UInt8(ascii: ".") {
            scan &+= 1
            let start = scan
            isComplete = JSONDocument.readDigits(base, &scan, &digits)
            scale = scan &- start
            digitCount &+= scale
        }
        if digits <= UInt64(UInt32.max), digitCount <= 19 { flags.insert(.small) }
        if isComplete, base[scan] | 0x20 == UInt8(ascii: "e") {
            flags.remove(.small)
            scan &+= 1
            if base[scan] == UInt8(ascii: "+") || base[scan] == UInt8(ascii: "-") { scan &+= 1 }
            isComplete = JSONDocument.readDigits(base, &scan, &digits)
        }
        guard scan &- at <= JSONDocument.maximumNumberBytes else {
            throw syntaxError(.numberTooLong, at: valueStart + at)
        }
        if scan >= end, !(isLast && isComplete) { return nil }
        guard isComplete else { throw syntaxError(.invalidNumber, at: valueStart + at) }
        return JSONTape.Entry(
            offset: UInt32(truncatingIfNeeded: at),
            length: UInt32(truncatingIfNeeded: scan &- at),
            link: UInt32(truncatingIfNeeded: digits),
            kind: .number,
            flags: flags,
            scale: UInt8(truncatingIfNeeded: scale)
        )
    }

    /// Appends digits to a number and returns whether there was one. The digits are read one by one: numbers are short,
    /// and reading eight at a time was slower.
    @inline(__always)
    private static func readDigits(_ base: UnsafePointer<UInt8>, _ scan: inout Int, _ number: inout UInt64) -> Bool {
        let start = scan
        var digit = base[scan] &- UInt8(ascii: "0")
        while digit < 10 {
            number = number &* 10 &+ UInt64(digit)
            scan &+= 1
            digit = base[scan] &- UInt8(ascii: "0")
        }
        return scan > start
    }

    /// Returns `false` if the rest of the word has not arrived.
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
