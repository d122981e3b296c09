/// The numbers of a date or time, while a text is read or written.
struct CivilFields {
    var year = 1
    var month = 1
    var day = 1
    var hour = 0
    var minute = 0
    var second = 0
    var nanosecond = 0
    var isNegative = false

    init() {}

    var date: FMDate? {
        get { FMDate(year: year, month: month, day: day) }
        set {
            guard let newValue else { return }
            (year, month, day) = (newValue.year, newValue.month, newValue.day)
        }
    }

    var time: FMTime {
        get {
            let sign = isNegative ? -1 : 1
            // Reading allows at most ten digits of hours, so this does not overflow.
            return FMTime(wholeSeconds: sign * (hour * 3_600 + minute * 60 + second), fraction: sign * nanosecond)
        }
        set {
            (hour, minute, second, nanosecond) = (
                newValue.hours, newValue.minutes, newValue.seconds, newValue.nanoseconds
            )
            isNegative = newValue.isNegative
        }
    }
}

// MARK: - Reading

extension CivilFields {
    private static let zero = UInt8(ascii: "0")

    /// Reads the whole text by the pattern; `nil` if it does not fit or a part is out of range. ``FMDate`` checks
    /// whether the day exists.
    init?(reading text: UnsafeBufferPointer<UInt8>, as pattern: CivilPattern, _ shortYears: ValueOptions.ShortYears) {
        self.init()
        if let layout = pattern.fixedLayout, readFixed(text, layout) { return }
        guard let fields = CivilFields(readingLoosely: text, as: pattern, shortYears) else { return nil }
        self = fields
    }

    private init?(
        readingLoosely text: UnsafeBufferPointer<UInt8>,
        as pattern: CivilPattern,
        _ shortYears: ValueOptions.ShortYears
    ) {
        var position = 0
        var isAfternoon: Bool?
        var isOfTwelve = false
        if text.first == UInt8(ascii: "-"), pattern.pieces.first?.isHour == true {
            isNegative = true
            position = 1
        }
        for (index, piece) in pattern.pieces.enumerated() {
            // A time may end after its minutes.
            if position == text.count, pattern.isOnlySecondLeft(from: index) { break }
            switch piece {
            case .year:
                guard let number = CivilFields.year(text, &position, shortYears) else { return nil }
                year = number
            case .month:
                guard let number = CivilFields.number(text, &position, digits: 2) else { return nil }
                month = number
            case .day:
                guard let number = CivilFields.number(text, &position, digits: 2) else { return nil }
                day = number
            case .hour:
                guard let number = CivilFields.number(text, &position, digits: 10) else { return nil }
                hour = number
            case .hourOfTwelve:
                guard let number = CivilFields.number(text, &position, digits: 2), (1...12).contains(number) else {
                    return nil
                }
                hour = number % 12
                isOfTwelve = true
            case .minute:
                guard let number = CivilFields.number(text, &position, digits: 2), number < 60 else { return nil }
                minute = number
            case .second:
                guard let number = CivilFields.number(text, &position, digits: 2), number < 60 else { return nil }
                second = number
                guard readFraction(text, &position) else { return nil }
            case .dayPeriod:
                guard let period = CivilFields.dayPeriod(text, &position) else { return nil }
                isAfternoon = period
            case .literal(let literal):
                guard CivilFields.skip(literal, text, &position) else { return nil }
            }
        }
        guard position == text.count else { return nil }
        if isOfTwelve, isAfternoon == true { hour += 12 }
    }

    /// Reads a text with every part at the layout's fixed place, as servers write it; returns `false` for any other
    /// text.
    @inline(__always)
    mutating func readFixed(_ text: UnsafeBufferPointer<UInt8>, _ layout: CivilPattern.FixedLayout) -> Bool {
        guard text.count == layout.length else { return false }
        var isFitting = true
        func two(_ position: Int) -> Int {
            let tens = text[position] &- CivilFields.zero
            let ones = text[position + 1] &- CivilFields.zero
            if tens > 9 || ones > 9 { isFitting = false }
            return Int(tens) * 10 + Int(ones)
        }
        func separator(_ position: Int, _ byte: UInt8) {
            if text[position] != byte { isFitting = false }
        }
        if layout.hasDate {
            if layout.isISO {
                (year, month, day) = (two(0) * 100 + two(2), two(5), two(8))
                separator(4, UInt8(ascii: "-"))
                separator(7, UInt8(ascii: "-"))
            } else {
                (month, day, year) = (two(0), two(3), two(6) * 100 + two(8))
                separator(2, UInt8(ascii: "/"))
                separator(5, UInt8(ascii: "/"))
            }
        }
        if layout.hasTime {
            let start = layout.length - 8
            (hour, minute, second) = (two(start), two(start + 3), two(start + 6))
            separator(start + 2, UInt8(ascii: ":"))
            separator(start + 5, UInt8(ascii: ":"))
            if layout.hasDate { separator(10, layout.isISO ? UInt8(ascii: "T") : UInt8(ascii: " ")) }
        }
        return isFitting && minute < 60 && second < 60
    }

    @inline(__always)
    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ position: inout Int, digits: Int) -> Int? {
        let start = position
        var number = 0
        while position < text.count, position - start < digits {
            let digit = text[position] &- zero
            guard digit < 10 else { break }
            number = number * 10 + Int(digit)
            position += 1
        }
        return position > start ? number : nil
    }

    /// Reads a year of four digits, or of two if the options give them a meaning.
    private static func year(
        _ text: UnsafeBufferPointer<UInt8>,
        _ position: inout Int,
        _ shortYears: ValueOptions.ShortYears
    ) -> Int? {
        let start = position
        guard let number = number(text, &position, digits: 4) else { return nil }
        switch position - start {
        case 4: return number
        case 2: return shortYears.year(number)
        default: return nil
        }
    }

    /// Reads a point or comma and digits, if they are there; drops digits beyond the nanosecond.
    private mutating func readFraction(_ text: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: ".") || text[position] == UInt8(ascii: ",") else {
            return true
        }
        position += 1
        let start = position
        var unit = 100_000_000
        while position < text.count, text[position] &- CivilFields.zero < 10 {
            nanosecond += Int(text[position] - CivilFields.zero) * unit
            unit /= 10
            position += 1
        }
        return position > start
    }

    private static func dayPeriod(_ text: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Bool? {
        guard position + 2 <= text.count, text[position + 1] | 0x20 == UInt8(ascii: "m") else { return nil }
        let letter = text[position] | 0x20
        position += 2
        if letter == UInt8(ascii: "p") { return true }
        return letter == UInt8(ascii: "a") ? false : nil
    }

    private static func skip(_ literal: String, _ text: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Bool {
        for byte in literal.utf8 {
            guard position < text.count else { return false }
            let found = text[position]
            // ISO 8601 texts may have a T or a space between date and time.
            guard found == byte || byte == UInt8(ascii: "T") && found == UInt8(ascii: " ") else { return false }
            position += 1
        }
        return true
    }
}

extension CivilPattern {
    /// Whether only a literal and the seconds follow.
    fileprivate func isOnlySecondLeft(from index: Int) -> Bool {
        guard index == pieces.count - 2, case .second? = pieces.last, case .literal = pieces[index] else {
            return false
        }
        return true
    }
}

extension CivilPattern {
    /// Whether a time can be written in this pattern and read again.
    func canShow(_ time: FMTime) -> Bool {
        let hasTwelve = pieces.contains { if case .hourOfTwelve = $0 { true } else { false } }
        if hasTwelve, time.hours >= 24 { return false }
        return !time.isNegative || pieces.first?.isHour == true
    }
}

extension CivilPattern.Piece {
    fileprivate var isHour: Bool {
        if case .hour = self { true } else { false }
    }
}

// MARK: - Writing

extension CivilFields {
    func text(_ pattern: CivilPattern) -> String {
        var text = isNegative ? "-" : ""
        for piece in pattern.pieces {
            switch piece {
            case .year(let digits): text += CivilFields.padded(year, digits)
            case .month(let digits): text += CivilFields.padded(month, digits)
            case .day(let digits): text += CivilFields.padded(day, digits)
            case .hour(let digits): text += CivilFields.padded(hour, digits)
            case .hourOfTwelve(let digits): text += CivilFields.padded(hour % 12 == 0 ? 12 : hour % 12, digits)
            case .minute(let digits): text += CivilFields.padded(minute, digits)
            case .second(let digits): text += CivilFields.padded(second, digits) + fraction
            case .dayPeriod: text += hour % 24 < 12 ? "AM" : "PM"
            case .literal(let literal): text += literal
            }
        }
        return text
    }

    private var fraction: String {
        guard nanosecond > 0 else { return "" }
        let digits = CivilFields.padded(nanosecond, 9)
        return "." + digits.prefix(through: digits.lastIndex { $0 != "0" } ?? digits.startIndex)
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
