// Reading keys, strings, numbers and literals: the scalar part of `readValue`.
extension JSONDocument {
    /// A string that has ended.
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

    /// The key that begins with the quote at `at`, if it is not the one that stood in its place before; `nil` when its end
    /// has not come yet.
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

    /// The string that begins with the quote at `at`; `nil` when its end has not come yet.
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

    /// The string between two quotes, checked where there is something to check.
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

    /// Moves `scan` to the quote that ends the string, to a control character, to the end of the bytes or to a backslash
    /// that is the last of them; the byte there. Sixteen bytes at a time, which is most strings at once.
    @inline(__always)
    private static func scanString(
        _ base: UnsafePointer<UInt8>,
        _ scan: inout Int,
        _ end: Int,
        _ bits: inout UInt64,
        _ isEscaped: inout Bool
    ) -> UInt8 {
        // Spelled out: for other types of the operands these operators go through the bytes one by one.
        let quotes = SIMD16<UInt8>(repeating: UInt8(ascii: "\""))
        let backslashes = SIMD16<UInt8>(repeating: UInt8(ascii: "\\"))
        let controls = SIMD16<UInt8>(repeating: 0x20)
        while true {
            // The padding makes this safe at the end, and its zeros stop the loop.
            let block = UnsafeRawPointer(base + scan).loadUnaligned(as: SIMD16<UInt8>.self)
            let stops = (block .== quotes) .| (block .== backslashes) .| (block .< controls)
            // All ones in the bytes that stop: as two words, the lowest bit is that of the first such byte. Which of the words
            // it is in nobody can predict, so there is no branch on it.
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

    /// The number at `at`; `nil` when more of it may come.
    ///
    /// Its digits are looked at here anyway: those of a small number need not be read a second time.
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
        // Up to nineteen digits fit; what comes of more is not used.
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

    /// Appends digits to a number; whether there was one. One by one: numbers are short, and eight at a time was slower.
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
