/// A parsed date or time pattern.
struct CivilPattern: Hashable, Sendable {
    enum Piece: Hashable, Sendable {
        /// The number is the least number of digits to write.
        case year(Int), month(Int), day(Int), hour(Int), hourOfTwelve(Int), minute(Int), second(Int)
        case dayPeriod
        case literal(String)
    }

    enum Subject {
        case date, time, timestamp
    }

    /// The form in which servers write dates by default: digits at fixed places.
    struct FixedLayout: Hashable, Sendable {
        var isISO: Bool
        var hasDate: Bool
        var hasTime: Bool
        var length: Int { (hasDate ? 10 : 0) + (hasTime ? 8 : 0) + (hasDate && hasTime ? 1 : 0) }
    }

    let pieces: [Piece]
    let fixedLayout: FixedLayout?

    init(pieces: [Piece], fixedLayout: FixedLayout? = nil) {
        self.pieces = pieces
        self.fixedLayout = fixedLayout
    }

    init(_ pattern: String, needing subject: Subject) throws(ValueFormat.PatternError) {
        var pieces: [Piece] = []
        var literal = ""
        var rest = pattern[...]
        while let character = rest.first {
            if character == "'" {
                literal += try CivilPattern.quoted(&rest, of: pattern)
                continue
            }
            guard character.isASCII, character.isLetter else {
                literal.append(character)
                rest.removeFirst()
                continue
            }
            if !literal.isEmpty { pieces.append(.literal(literal)) }
            literal = ""
            let count = rest.prefix { $0 == character }.count
            rest.removeFirst(count)
            pieces.append(try CivilPattern.piece(character, count, of: pattern))
        }
        if !literal.isEmpty { pieces.append(.literal(literal)) }
        try CivilPattern.check(pieces, subject, of: pattern)
        self.pieces = pieces
        fixedLayout = nil
    }

    private static func quoted(
        _ rest: inout Substring,
        of pattern: String
    ) throws(ValueFormat.PatternError) -> String {
        rest.removeFirst()
        guard let end = rest.firstIndex(of: "'") else {
            throw ValueFormat.PatternError(pattern: pattern, reason: "an apostrophe is not closed")
        }
        let text = rest[..<end]
        rest = rest[rest.index(after: end)...]
        // Two apostrophes stand for one.
        return text.isEmpty ? "'" : String(text)
    }

    private static func piece(
        _ letter: Character,
        _ count: Int,
        of pattern: String
    ) throws(ValueFormat.PatternError) -> Piece {
        switch (letter, count) {
        case ("y", 1), ("y", 4): return .year(4)
        case ("M", 1...2): return .month(count)
        case ("d", 1...2): return .day(count)
        case ("H", 1...2): return .hour(count)
        case ("h", 1...2): return .hourOfTwelve(count)
        case ("m", 1...2): return .minute(count)
        case ("s", 1...2): return .second(count)
        case ("a", 1): return .dayPeriod
        case ("y", _):
            throw ValueFormat.PatternError(pattern: pattern, reason: "a year needs four digits")
        default:
            let letters = String(repeating: letter, count: count)
            throw ValueFormat.PatternError(pattern: pattern, reason: "\"\(letters)\" is not known")
        }
    }

    private static func check(
        _ pieces: [Piece],
        _ subject: Subject,
        of pattern: String
    ) throws(ValueFormat.PatternError) {
        var counts: [String: Int] = [:]
        for piece in pieces {
            switch piece {
            case .year: counts["year", default: 0] += 1
            case .month: counts["month", default: 0] += 1
            case .day: counts["day", default: 0] += 1
            case .hour, .hourOfTwelve: counts["hour", default: 0] += 1
            case .minute: counts["minute", default: 0] += 1
            case .second: counts["second", default: 0] += 1
            case .dayPeriod: counts["AM/PM", default: 0] += 1
            case .literal: break
            }
        }
        let date = ["year", "month", "day"]
        let time = ["hour", "minute", "second"]
        let twelve = pieces.contains { if case .hourOfTwelve = $0 { true } else { false } }
        let wanted: [String] =
            switch subject {
            case .date: date
            case .time: time + (twelve ? ["AM/PM"] : [])
            case .timestamp: date + time + (twelve ? ["AM/PM"] : [])
            }
        for name in date + time + ["AM/PM"] {
            let count = counts[name, default: 0]
            if wanted.contains(name) ? count != 1 : count != 0 {
                let reason = wanted.contains(name) ? "it needs one \(name)" : "\(name) does not belong there"
                throw ValueFormat.PatternError(pattern: pattern, reason: reason)
            }
        }
    }
}

extension CivilPattern: CustomStringConvertible {
    /// The pattern in the form that ``ValueFormat/init(date:time:timestamp:)`` accepts.
    var description: String { pieces.map(\.description).joined() }
}

extension CivilPattern.Piece: CustomStringConvertible {
    var description: String {
        switch self {
        case .year: "yyyy"
        case .month(let digits): String(repeating: "M", count: digits)
        case .day(let digits): String(repeating: "d", count: digits)
        case .hour(let digits): String(repeating: "H", count: digits)
        case .hourOfTwelve(let digits): String(repeating: "h", count: digits)
        case .minute(let digits): String(repeating: "m", count: digits)
        case .second(let digits): String(repeating: "s", count: digits)
        case .dayPeriod: "a"
        case .literal(let text):
            text.split(separator: "'", omittingEmptySubsequences: false)
                .map { $0.contains { $0.isASCII && $0.isLetter } ? "'\($0)'" : String($0) }
                .joined(separator: "''")
        }
    }
}
