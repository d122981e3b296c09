/// The grammar of heads (RFC 9110 §5.6), on bytes: a string is made only of what is kept.
extension BidirectionalCollection<UInt8> {
    /// Whether it is a token: not empty, and nothing but letters, digits and the few signs of ``UInt8/isTokenByte``.
    package var isToken: Bool { !isEmpty && allSatisfy(\.isTokenByte) }

    /// Whether it is this word, which is given in lower case, in any case. ASCII only, as all words of HTTP are.
    func isSame(as word: StaticString) -> Bool {
        var letters = word.utf8Start
        let end = letters + word.utf8CodeUnitCount
        for byte in self {
            guard letters < end, byte == letters.pointee || byte | 0x20 == letters.pointee && byte.isCapital else {
                return false
            }
            letters += 1
        }
        return letters == end
    }

    /// The number, if there are only decimal digits: `Int` would also accept a sign.
    package var decimalNumber: Int? {
        var number = 0
        for byte in self {
            guard let digit = byte.decimalDigit else { return nil }
            let (tens, overflowed) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tens.addingReportingOverflow(digit)
            guard !overflowed, !overflows else { return nil }
            number = sum
        }
        return isEmpty ? nil : number
    }

    /// Calls `body` with each element of a comma-separated list, without surrounding blanks.
    func forEachListElement(_ body: (SubSequence) -> Void) {
        var rest = self[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            var element = rest[..<end]
            while let first = element.first, first.isBlank { element.removeFirst() }
            while let last = element.last, last.isBlank { element.removeLast() }
            if !element.isEmpty { body(element) }
            rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
        }
    }
}

extension UInt8 {
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var tab: UInt8 { 0x09 }

    var decimalDigit: Int? { (0x30...0x39).contains(self) ? Int(self) - 0x30 : nil }

    var hexDigit: Int? {
        switch self {
        case 0x30...0x39: Int(self) - 0x30
        case 0x41...0x46: Int(self) - 0x41 + 10
        case 0x61...0x66: Int(self) - 0x61 + 10
        default: nil
        }
    }

    /// Whether a header value may contain it: visible characters, blanks and everything beyond ASCII (RFC 9110 §5.5).
    var isFieldValueByte: Bool { self >= 0x20 ? self != 0x7F : self == .tab }

    /// Space or tab.
    var isBlank: Bool { self == .space || self == .tab }

    /// Whether a token may contain it (RFC 9110 §5.6.2).
    var isTokenByte: Bool {
        // One bit for each of the 128: `!#$%&'*+-.^_`|~`, digits and letters.
        let bits: UInt64 = self < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFE_C7FF_FFFE
        return self < 128 && bits >> UInt64(self & 63) & 1 == 1
    }

    fileprivate var isCapital: Bool { (0x41...0x5A).contains(self) }
}
