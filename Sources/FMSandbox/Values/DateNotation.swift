/// The notation of dates and timestamps: the `dateformats` parameter of the Data API.
///
/// Source: Claris FileMaker Data API Guide, "Get a single record" (`dateformats` 0, 1 and 2).
enum DateNotation: Sendable, Equatable {
    /// `MM/dd/yyyy`, the default.
    case us
    /// The order and separator of the hosted file.
    case file(FileDateFormat)
    /// `yyyy-MM-dd`, and `yyyy-MM-ddTHH:mm:ss` or with a space for the `T`.
    case iso(Sandbox.ISOTimestampSeparator = .letter)

    var isISO: Bool { if case .iso = self { true } else { false } }

    func write(_ date: CivilDate) -> String {
        let (year, month, day) = date.components
        switch self {
        case .us: return "\(padded(month))/\(padded(day))/\(padded(year, 4))"
        case .iso: return "\(padded(year, 4))-\(padded(month))-\(padded(day))"
        case .file(let format):
            return format.order.map { component in
                switch component {
                case .year: padded(year, 4)
                case .month: padded(month)
                case .day: padded(day)
                }
            }
            .joined(separator: format.separator)
        }
    }

    func write(_ timestamp: CivilTimestamp) -> String {
        let separator = if case .iso(let separator) = self { separator.rawValue } else { " " }
        return write(timestamp.date) + separator + timestamp.time.text
    }

    func date(from text: String) -> CivilDate? {
        switch self {
        case .us: return Self.date(from: text, order: [.month, .day, .year], separators: "/-.")
        case .iso: return Self.date(from: text, order: [.year, .month, .day], separators: "-")
        case .file(let format): return Self.date(from: text, order: format.order, separators: format.separator)
        }
    }

    /// Parses a date and a time separated by a space (or by `T` in the ISO notation). A date alone means midnight.
    func timestamp(from text: String) -> CivilTimestamp? {
        let text = text.trimmed
        let separator = text.firstIndex { $0 == " " || (isISO && $0 == "T") }
        guard let date = date(from: String(text[..<(separator ?? text.endIndex)])) else { return nil }
        guard let separator else { return CivilTimestamp(date: date, time: CivilTime(microseconds: 0)) }
        guard let time = CivilTime(text: String(text[text.index(after: separator)...])),
            (0..<CivilTime.day).contains(time.microseconds)
        else { return nil }
        return CivilTimestamp(date: date, time: time)
    }

    private static func date(
        from text: String,
        order: [FileDateFormat.Component],
        separators: String
    ) -> CivilDate? {
        let parts = text.trimmed.split(omittingEmptySubsequences: false) { separators.contains($0) }
        guard parts.count == 3 else { return nil }
        var components: [FileDateFormat.Component: Int] = [:]
        for (component, part) in zip(order, parts) {
            guard part.count <= 4, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(part) else {
                return nil
            }
            components[component] = component == .year && part.count <= 2 ? Self.expanded(year: number) : number
        }
        guard let year = components[.year], let month = components[.month], let day = components[.day] else {
            return nil
        }
        return CivilDate(year: year, month: month, day: day)
    }

    /// The full year of a two-digit one: 30…99 are 19xx, 00…29 are 20xx.
    static func expanded(year: Int) -> Int { year < 30 ? 2000 + year : 1900 + year }
}

/// The order and separator of dates in a hosted file, from a pattern such as `dd.MM.yyyy`.
struct FileDateFormat: Sendable, Equatable {
    enum Component: Sendable { case year, month, day }

    let order: [Component]
    let separator: String

    /// nil if the pattern is not `yyyy`, `MM` and `dd` in some order with one separator between them.
    init?(pattern: String) {
        guard let separator = pattern.first(where: { !$0.isLetter }) else { return nil }
        let order = pattern.split(separator: separator).compactMap { part -> Component? in
            switch part {
            case "yyyy": .year
            case "MM": .month
            case "dd": .day
            default: nil
            }
        }
        guard Set(order).count == 3, order.count == 3 else { return nil }
        self.order = order
        self.separator = String(separator)
    }
}

extension CivilTime {
    /// `HH:mm:ss`, with the fraction if there is one; hours may have more than two digits.
    var text: String {
        var text = "\(padded(hours)):\(padded(minutes)):\(padded(seconds))"
        if fraction != 0 {
            var digits = padded(fraction, 6)
            while digits.hasSuffix("0") { digits.removeLast() }
            text += "." + digits
        }
        return microseconds < 0 ? "-" + text : text
    }

    /// Parses `HH:mm:ss`, `HH:mm` and `h:mm AM`, with a fraction and a sign. Minutes and seconds beyond 59 carry over.
    init?(text: String) {
        var text = text.trimmed.lowercased()
        var halfDay: Int?
        for (suffix, hours) in [("am", 0), ("pm", 12)] where text.hasSuffix(suffix) {
            halfDay = hours
            text = String(text.dropLast(2)).trimmed
        }
        let negative = text.hasPrefix("-")
        if negative { text.removeFirst() }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let hours = Self.count(parts[0]) else { return nil }
        var total = hours * Self.hour
        if let halfDay {
            guard (1...12).contains(hours) else { return nil }
            total = (hours % 12 + halfDay) * Self.hour
        }
        if parts.count > 1 {
            guard let minutes = Self.count(parts[1]) else { return nil }
            total += minutes * Self.minute
        }
        if parts.count > 2 {
            let seconds = parts[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard let whole = Self.count(seconds[0]) else { return nil }
            total += whole * Self.second
            if seconds.count == 2 {
                let digits = seconds[1].prefix(6)
                guard let fraction = Self.count(digits) else { return nil }
                total += (digits.count..<6).reduce(fraction) { number, _ in number * 10 }
            }
        }
        self.init(microseconds: negative ? -total : total)
    }

    private static func count(_ digits: Substring) -> Int? {
        guard (1...7).contains(digits.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits)
    }
}

extension CivilTimestamp {
    /// The HTTP date: `Wed, 15 Jan 2025 12:00:00 GMT` (RFC 9110, section 5.6.7).
    var httpDate: String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let (year, month, day) = date.components
        let clock = CivilTime(microseconds: time.microseconds - time.fraction).text
        return "\(days[date.weekday]), \(padded(day)) \(months[month - 1]) \(padded(year, 4)) \(clock) GMT"
    }
}

private func padded(_ number: Int, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

extension String {
    /// The text without spaces at either end. FileMaker ignores them around a criterion and around a typed date.
    var trimmed: String {
        guard let first = firstIndex(where: { $0 != " " }), let last = lastIndex(where: { $0 != " " }) else {
            return ""
        }
        return String(self[first...last])
    }
}
