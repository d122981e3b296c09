/// Checks and unescapes the content of JSON strings.
///
/// All texts are parts of a document, so some bytes after their end may be read; see ``JSONDocument/padding``.
enum JSONText {
    private static let backslash = UInt8(ascii: "\\")

    enum Problem {
        case invalidEscape, loneSurrogate, invalidUTF8
    }

    // MARK: Checking

    /// The first fault in the content of a string, with its position.
    static func problem(in text: UnsafeBufferPointer<UInt8>) -> (Problem, at: Int)? {
        var position = 0
        while position < text.count {
            let skipped = plainBytes(text, at: position)
            if skipped > 0 {
                position &+= skipped
                continue
            }
            let byte = text[position]
            if byte == backslash {
                guard let length = escapeLength(text, at: position) else { return (.invalidEscape, position) }
                if text[position + 1] == UInt8(ascii: "u") {
                    switch unit(text, at: position) {
                    case 0xD800..<0xDC00:
                        let next = position + length
                        guard
                            next + 6 <= text.count, escapeLength(text, at: next) == 6,
                            (0xDC00..<0xE000).contains(unit(text, at: next))
                        else { return (.loneSurrogate, position) }
                        position += 6
                    case 0xDC00..<0xE000:
                        return (.loneSurrogate, position)
                    default:
                        break
                    }
                }
                position += length
            } else if 0xC2...0xDF ~= byte, position &+ 1 < text.count, text[position &+ 1] & 0xC0 == 0x80 {
                // Most characters beyond ASCII have two bytes.
                position &+= 2
            } else {
                let length = scalarLength(text, at: position)
                if length == 0 { return (.invalidUTF8, position) }
                position += length
            }
        }
        return nil
    }

    /// The number of the next eight bytes that come before a byte beyond ASCII, a backslash or the end.
    @inline(__always)
    private static func plainBytes(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int {
        let word = UInt64(littleEndian: nextWord(text, at: position))
        let others = word ^ 0x5C5C_5C5C_5C5C_5C5C
        // This finds the first backslash exactly. A borrow can only make bytes after it look like one.
        let found = (word | (others &- 0x0101_0101_0101_0101) & ~others) & 0x8080_8080_8080_8080
        return min(found.trailingZeroBitCount &>> 3, text.count &- position)
    }

    /// The next eight bytes, some of which may lie beyond the end.
    @inline(__always)
    private static func nextWord(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt64 {
        UnsafeRawPointer(text.baseAddress.unsafelyUnwrapped + position).loadUnaligned(as: UInt64.self)
    }

    /// The length of the well-formed UTF-8 sequence that begins here; 0 if there is none (Unicode, table 3-7).
    private static func scalarLength(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int {
        func continues(_ index: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            position + index < text.count && range.contains(text[position + index])
        }
        switch text[position] {
        case 0xC2...0xDF: return continues(1) ? 2 : 0
        case 0xE0: return continues(1, 0xA0...0xBF) && continues(2) ? 3 : 0
        case 0xED: return continues(1, 0x80...0x9F) && continues(2) ? 3 : 0
        case 0xE1...0xEF: return continues(1) && continues(2) ? 3 : 0
        case 0xF0: return continues(1, 0x90...0xBF) && continues(2) && continues(3) ? 4 : 0
        case 0xF1...0xF3: return continues(1) && continues(2) && continues(3) ? 4 : 0
        case 0xF4: return continues(1, 0x80...0x8F) && continues(2) && continues(3) ? 4 : 0
        default: return 0
        }
    }

    /// The length of the escape that begins here; `nil` if there is none.
    private static func escapeLength(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int? {
        guard position + 1 < text.count, text[position] == backslash else { return nil }
        switch text[position + 1] {
        case UInt8(ascii: "u"):
            guard position + 6 <= text.count, hex(text[position + 2]) != nil, hex(text[position + 3]) != nil,
                hex(text[position + 4]) != nil, hex(text[position + 5]) != nil
            else { return nil }
            return 6
        case UInt8(ascii: "\""), backslash, UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        default:
            return nil
        }
    }

    @inline(__always)
    private static func hex(_ byte: UInt8) -> UInt16? {
        let digit = byte &- UInt8(ascii: "0")
        if digit < 10 { return UInt16(digit) }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? UInt16(letter) + 10 : nil
    }

    /// The UTF-16 unit of a `\u` escape whose length has been checked.
    private static func unit(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt16 {
        var unit: UInt16 = 0
        for index in 2..<6 { unit = unit &<< 4 | (hex(text[position &+ index]) ?? 0) }
        return unit
    }

    // MARK: Lines

    /// The length of the escape, or of the one byte, at a position.
    static func unitLength(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int {
        text[position] == backslash ? escapeLength(text, at: position) ?? 1 : 1
    }

    /// The carriage return or line feed at a position; `nil` if there is another character.
    static func lineEnd(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt8? {
        var byte = text[position]
        switch unitLength(text, at: position) {
        case 2: byte = plain(text[position + 1])
        case 6: byte = UInt8(exactly: unit(text, at: position)) ?? 0
        default: break
        }
        return byte == 0x0D || byte == 0x0A ? byte : nil
    }

    // MARK: Strings

    /// The string of a token of the reader.
    @inline(__always)
    static func string(_ text: UnsafeBufferPointer<UInt8>, _ flags: JSONTape.Entry.Flags) -> String {
        if flags.isEmpty { return string(ofChecked: text, isASCII: true) }
        if flags.contains(.escaped) { return unescape(text, isChecked: !flags.contains(.unchecked)) }
        if flags.contains(.unchecked) { return String(decoding: text, as: UTF8.self) }
        return string(ofChecked: text, isASCII: false)
    }

    /// A string of bytes that the reader has found to be UTF-8, so they are not checked again.
    @inline(__always)
    private static func string(ofChecked text: UnsafeBufferPointer<UInt8>, isASCII: Bool) -> String {
        #if compiler(>=6.2)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return String(copying: UTF8Span(unchecked: text.span, isKnownASCII: isASCII))
        }
        #endif
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: Unescaping

    /// The text without its escapes. Parts that a check would refuse become U+FFFD; a backslash that escapes nothing
    /// stays.
    static func unescape(_ text: UnsafeBufferPointer<UInt8>, isChecked: Bool) -> String {
        // Unescaping never makes a text longer. The last word written may exceed it by seven bytes.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count + 7) { scratch in
            var length = 0
            var position = 0
            while position < text.count {
                let skipped = plainBytes(text, at: position)
                if skipped > 0 {
                    // The next write overwrites the excess bytes.
                    let word = nextWord(text, at: position)
                    UnsafeMutableRawBufferPointer(scratch).storeBytes(of: word, toByteOffset: length, as: UInt64.self)
                    length &+= skipped
                    position &+= skipped
                    continue
                }
                let byte = text[position]
                guard byte == backslash, let escape = escapeLength(text, at: position) else {
                    scratch[length] = byte
                    length += 1
                    position += 1
                    continue
                }
                if escape == 2 {
                    scratch[length] = plain(text[position + 1])
                    length += 1
                    position += 2
                } else {
                    let scalar = scalar(text, &position)
                    guard let units = UTF8.encode(scalar) else { preconditionFailure("UTF-8 encodes every scalar") }
                    for unit in units {
                        scratch[length] = unit
                        length += 1
                    }
                }
            }
            let result = UnsafeBufferPointer(rebasing: scratch[..<length])
            // A checked text without its escapes is still UTF-8, because each escape stands for a whole character.
            return isChecked ? string(ofChecked: result, isASCII: false) : String(decoding: result, as: UTF8.self)
        }
    }

    private static func plain(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    private static func scalar(_ text: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Unicode.Scalar {
        let first = unit(text, at: position)
        position += 6
        if (0xD800..<0xDC00).contains(first), escapeLength(text, at: position) == 6 {
            let second = unit(text, at: position)
            if (0xDC00..<0xE000).contains(second) {
                position += 6
                let value = 0x10000 + UInt32(first - 0xD800) << 10 + UInt32(second - 0xDC00)
                return Unicode.Scalar(value) ?? "\u{FFFD}"
            }
        }
        return Unicode.Scalar(first) ?? "\u{FFFD}"
    }
}
