/// Converts values to text for find criteria.
///
/// Source: Claris Data API guide, "Perform a find request" (criteria are read in US formats); FileMaker Pro help,
/// "Finding text" for the operators.
enum FindText {}

// MARK: - Dates and times

extension FindText {
    /// Returns a date in the form that FileMaker reads in a criterion: `MM/dd/yyyy`.
    static func date(year: Int, month: Int, day: Int) -> String {
        "\(padded(month, 2))/\(padded(day, 2))/\(padded(year, 4))"
    }

    /// Returns a time as `HH:mm:ss`. Hours may exceed 23, since a time field holds a duration. The sign is a separate
    /// parameter, so that "minus 30 minutes" can be expressed.
    ///
    /// - Parameters:
    ///   - isNegative: Whether the time is negative. The default is `false`.
    ///   - hours: Any number of hours.
    ///   - minutes: 0 to 59.
    ///   - seconds: 0 to 59.
    ///   - nanoseconds: The fraction of the second; written without trailing zeros, and not at all if it is 0, the
    ///     default.
    static func time(
        isNegative: Bool = false,
        hours: Int,
        minutes: Int,
        seconds: Int,
        nanoseconds: Int = 0
    ) -> String {
        var fraction = nanoseconds == 0 ? "" : "." + padded(nanoseconds, 9)
        while fraction.last == "0" { fraction.removeLast() }
        return "\(isNegative ? "-" : "")\(padded(hours, 2)):\(padded(minutes, 2)):\(padded(seconds, 2))\(fraction)"
    }

    /// Returns a timestamp: the date and the time with a space between them.
    static func timestamp(date: String, time: String) -> String {
        "\(date) \(time)"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

// MARK: - Escaping

extension FindText {
    /// Returns the text with a backslash before every character that FileMaker would read as an operator, so that it is
    /// found literally.
    ///
    /// Most operators are escaped everywhere. `/` and `.` are operators only if doubled (`//` is today, `..` a range)
    /// and are not escaped otherwise, so dates and decimal numbers remain readable. A period at either end is escaped
    /// since a range sign may follow, and white space at either end since FileMaker would trim it.
    static func escaped(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var escaped = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            let isAtEnd = index == 0 || index == scalars.count - 1
            let hasTwin =
                index > 0 && scalars[index - 1] == scalar || index + 1 < scalars.count && scalars[index + 1] == scalar
            let isOperator =
                switch scalar {
                case "@", "*", "#", "?", "!", "=", "<", ">", "\"", "\\", "~", "≤", "≥", "…", "{", "}": true
                case "/": hasTwin
                case ".": hasTwin || isAtEnd
                default: isAtEnd && scalar.properties.isWhitespace
                }
            if isOperator { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }
}

extension FindText {
    /// Removes the escapes of ``escaped(_:)``.
    static func unescaped(_ text: String) -> String {
        var unescaped = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if scalar == "\\", !isEscaped {
                isEscaped = true
            } else {
                unescaped.append(scalar)
                isEscaped = false
            }
        }
        return String(unescaped)
    }
}

// MARK: - Words

extension FindText {
    /// The words that FileMaker's index makes of a text: split at spaces and punctuation, except for `'` and `.`
    /// between letters and `. , : / -` between digits.
    static func words(of text: String) -> [String] {
        let scalars = Array(text.unicodeScalars)
        var words: [String] = []
        var word = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            let before = index > 0 ? scalars[index - 1] : nil
            let after = index + 1 < scalars.count ? scalars[index + 1] : nil
            if !scalar.isSeparator || scalar.joins(before, after) {
                word.append(scalar)
            } else if !word.isEmpty {
                words.append(String(word))
                word.removeAll()
            }
        }
        return word.isEmpty ? words : words + [String(word)]
    }

    /// Writes a number without an exponent: `1.5e+3` becomes `1500`.
    static func withoutExponent(_ number: String) -> String {
        let parts = number.lowercased().split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]) else {
            return number.hasSuffix(".0") ? String(number.dropLast(2)) : number
        }
        let isNegative = parts[0].hasPrefix("-")
        let halves = parts[0].drop { $0 == "-" }.split(separator: ".")
        let whole = halves[0]
        let fraction = halves.count == 2 && halves[1] != "0" ? halves[1] : ""
        let digits = whole + fraction
        let point = whole.count + exponent
        let sign = isNegative ? "-" : ""
        if point <= 0 { return "\(sign)0.\(String(repeating: "0", count: -point))\(digits)" }
        if point >= digits.count { return "\(sign)\(digits)\(String(repeating: "0", count: point - digits.count))" }
        return "\(sign)\(digits.prefix(point)).\(digits.dropFirst(point))"
    }
}

extension Unicode.Scalar {
    fileprivate var isSeparator: Bool {
        switch properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .connectorPunctuation, .dashPunctuation,
            .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation,
            .mathSymbol, .currencySymbol, .modifierSymbol:
            true
        default:
            false
        }
    }

    fileprivate func joins(_ before: Unicode.Scalar?, _ after: Unicode.Scalar?) -> Bool {
        guard let before, let after else { return false }
        if before.properties.isAlphabetic, after.properties.isAlphabetic {
            return self == "'" || self == "." || self == "’"
        }
        if before.properties.numericType != nil, after.properties.numericType != nil {
            return self == "." || self == "," || self == ":" || self == "/" || self == "-"
        }
        return false
    }
}
