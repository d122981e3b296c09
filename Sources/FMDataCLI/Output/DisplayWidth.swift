/// The columns of a terminal that characters take, and texts that are safe to show on one.
extension Character {
    /// 2 for East Asian wide characters and emoji, 0 for marks without a letter, else 1.
    var displayWidth: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.isASCII {
            return first.value < 0x20 || first.value == 0x7F ? 0 : unicodeScalars.contains("\u{FE0F}") ? 2 : 1
        }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // A selector makes an emoji of a sign such as ❤.
        let isEmoji = first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}")
        return isEmoji || first.isWide ? 2 : 1
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is wide or full-width by Unicode Standard Annex 11; emoji are left to their own property.
    fileprivate var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
            0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// Whether a terminal would act on the scalar, or show the text around it in another order.
    fileprivate var isDangerous: Bool {
        switch value {
        case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// The scalar as JSON spells one that it does not show, if it has four digits.
    var asInJSON: String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension String {
    /// The columns that the text takes.
    var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

    /// The text with spaces up to a width.
    func padded(to width: Int, onTheRight: Bool = true) -> String {
        let spaces = String(repeating: " ", count: Swift.max(0, width - displayWidth))
        return onTheRight ? self + spaces : spaces + self
    }

    var withoutSpacesAtEnd: String {
        var text = Substring(self)
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// The text, cut with a mark where it is wider.
    func cut(to width: Int) -> String {
        guard displayWidth > width else { return self }
        var (kept, used) = ("", 0)
        for character in self {
            used += character.displayWidth
            guard used < width else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// The text with one kind of line breaks: a carriage return, which is FileMaker's, or a line feed.
    func withLineBreaks(_ lineBreak: Unicode.Scalar) -> String {
        let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        // Bytes are looked at: as characters, one that is replaced could form another one with what follows.
        guard utf8.contains(where: { $0 == lineFeed || $0 == carriageReturn }) else { return self }
        var bytes: [UInt8] = []
        var last: UInt8 = 0
        for byte in utf8 {
            switch byte {
            case carriageReturn: bytes.append(UInt8(ascii: lineBreak))
            case lineFeed: if last != carriageReturn { bytes.append(UInt8(ascii: lineBreak)) }
            default: bytes.append(byte)
            }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The lines of the text.
    var lines: [String] {
        withLineBreaks("\n").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The text in several lines that do nothing to a terminal but show themselves. What would do more is spelled as in
    /// JSON, so that JSON stays the same JSON.
    var harmless: String {
        guard unicodeScalars.contains(where: { $0.isDangerous && $0 != "\n" && $0 != "\t" }) else { return self }
        var text = ""
        for scalar in withLineBreaks("\n").unicodeScalars {
            if scalar.isDangerous, scalar != "\n", scalar != "\t" {
                text += scalar.asInJSON
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text in one line that does nothing to a terminal but show itself: field values are whatever somebody typed.
    var visible: String {
        let line = lines.joined(separator: "↵")
        guard line.unicodeScalars.contains(where: \.isDangerous) else { return line }
        var text = ""
        for scalar in line.unicodeScalars {
            if scalar == "\t" {
                text += " "
            } else if scalar.isDangerous {
                text += "<\(String(scalar.value, radix: 16, uppercase: true))>"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
