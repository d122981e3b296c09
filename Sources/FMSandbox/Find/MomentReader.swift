/// Parses the dates and times of criteria, in the formats that `dates` allows: US order, ISO 8601 or both.
struct MomentReader {
    var type: Solution.FieldType
    var today: CivilDate
    var dates: Sandbox.CriterionDates

    private var failure: FileMakerError { FileMakerError(type == .time ? 501 : 500) }

    private static let weekdayNames = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// The days of the week that `Tuesday` or `Mon..Fri` names; nil if the text names none.
    static func weekdays(_ text: String) -> Set<Int>? {
        func day(_ name: String) -> Int? {
            name.count < 3 ? nil : weekdayNames.firstIndex { $0.hasPrefix(name.lowercased()) }
        }
        if let (from, to) = RangeSign.split(text) {
            guard let first = day(from), let last = day(to) else { return nil }
            let days = (0..<7).map { (first + $0) % 7 }
            return Set(days.prefix((last - first + 7) % 7 + 1))
        }
        return day(text).map { [$0] }
    }

    func pattern(_ text: String) throws -> MomentCriterion {
        switch type {
        case .time: return .time(try time(text))
        case .timestamp:
            let (date, time) = try dateAndTime(text)
            return .timestamp(date, time)
        default: return .date(try date(text))
        }
    }

    /// The first and the last day or microsecond that the text covers.
    func bounds(_ text: String) throws -> (earliest: Int, latest: Int) {
        switch type {
        case .time: return try time(text).bounds
        case .timestamp:
            let (date, time) = try dateAndTime(text)
            guard let days = date.bounds else { throw failure }
            return (
                days.earliest.number * CivilTime.day + time.bounds.earliest,
                days.latest.number * CivilTime.day + time.bounds.latest
            )
        default:
            guard let days = try date(text).bounds else { throw failure }
            return (days.earliest.number, days.latest.number)
        }
    }

    private func dateAndTime(_ text: String) throws -> (DatePattern, TimePattern) {
        if let space = text.firstIndex(where: { $0 == " " || (dates != .us && $0 == "T") }) {
            let time = String(text[text.index(after: space)...]).trimmed
            return (try date(String(text[..<space])), try self.time(time))
        }
        return text.contains(":") ? (DatePattern(), try time(text)) : (try date(text), TimePattern())
    }

    private func date(_ text: String) throws -> DatePattern {
        if text == "//" { return DatePattern(today) }
        if dates != .us, let date = DateNotation.iso().date(from: text) { return DatePattern(date) }
        let parts = Self.components(of: text)
        // A year alone is the same in both formats.
        guard dates != .iso || parts.count == 1 else { throw failure }
        var pattern = DatePattern()
        switch parts.count {
        case 1:
            guard parts[0].count >= 3 || parts[0].hasPrefix("{") else { throw failure }
            pattern.year = try component(parts[0], within: 1...4000, isYear: true)
        case 2:
            pattern.month = try component(parts[0], within: 1...12)
            // `6/2024` is a month; `2/*` and `6/15` leave the year open.
            if parts[1].filter(\.isNumber).count >= 3 {
                pattern.year = try component(parts[1], within: 1...4000, isYear: true)
            } else {
                pattern.day = try component(parts[1], within: 1...31)
            }
        case 3:
            pattern.month = try component(parts[0], within: 1...12)
            pattern.day = try component(parts[1], within: 1...31)
            pattern.year = try component(parts[2], within: 1...4000, isYear: true)
            if let year = single(pattern.year), let month = single(pattern.month), let day = single(pattern.day),
                CivilDate(year: year, month: month, day: day) == nil
            {
                throw failure
            }
        default: throw failure
        }
        return pattern
    }

    /// Splits at the separators, but not inside braces such as `{1...15}`.
    private static func components(of text: String) -> [String] {
        var components = [""]
        var braces = 0
        for character in text {
            if character == "{" { braces += 1 }
            if character == "}" { braces -= 1 }
            if braces == 0, "/-.".contains(character) {
                components.append("")
            } else {
                components[components.count - 1].append(character)
            }
        }
        return components
    }

    private func single(_ component: ComponentPattern) -> Int? {
        component.numbers.flatMap { $0.count == 1 ? $0.lowerBound : nil }
    }

    private func time(_ text: String) throws -> TimePattern {
        var text = text.lowercased()
        var halfDay: Int?
        for (suffix, hours) in [("am", 0), ("pm", 12)] where text.hasSuffix(suffix) {
            halfDay = hours
            text = String(text.dropLast(2)).trimmed
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (1...3).contains(parts.count), !text.isEmpty else { throw failure }
        if halfDay == nil, parts.count > 1, let exact = CivilTime(text: text) {
            return exactly(exact, components: parts.count, hasFraction: text.contains("."))
        }
        var pattern = TimePattern()
        pattern.hour = try component(parts[0], within: 0...9999)
        if let halfDay {
            if let hours = pattern.hour.numbers {
                guard hours.lowerBound >= 1, hours.upperBound <= 12 else { throw failure }
                let bounds = [hours.lowerBound % 12 + halfDay, hours.upperBound % 12 + halfDay].sorted()
                pattern.hour.numbers = bounds[0]...bounds[1]
            } else {
                pattern.hour.numbers = halfDay...halfDay + 11
            }
        }
        if parts.count > 1 { pattern.minute = try component(parts[1], within: 0...59) }
        if parts.count > 2 { pattern.second = try component(parts[2], within: 0...59) }
        return pattern
    }

    /// The pattern of a time of plain numbers, with excess minutes carried over: `0:75` is 1:15. Omitted components
    /// stay open.
    private func exactly(_ time: CivilTime, components: Int, hasFraction: Bool) -> TimePattern {
        let hours = time.microseconds < 0 ? -time.hours : time.hours
        var pattern = TimePattern(
            hour: ComponentPattern(numbers: hours...hours),
            minute: ComponentPattern(numbers: time.minutes...time.minutes)
        )
        if components == 3 { pattern.second.numbers = time.seconds...time.seconds }
        if hasFraction { pattern.fraction.numbers = time.fraction...time.fraction }
        return pattern
    }

    private func component(
        _ text: String,
        within allowed: ClosedRange<Int>,
        isYear: Bool = false
    ) throws -> ComponentPattern {
        let text = text.trimmed
        if text == "*" { return .any }
        if text.hasPrefix("{"), text.hasSuffix("}") {
            guard let (from, to) = RangeSign.split(String(text.dropFirst().dropLast())),
                let first = try component(from, within: allowed, isYear: isYear).numbers?.lowerBound,
                let last = try component(to, within: allowed, isYear: isYear).numbers?.upperBound,
                first <= last
            else { throw failure }
            return ComponentPattern(numbers: first...last)
        }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.count <= 4, var number = Int(text) else {
            throw failure
        }
        if isYear, text.count <= 2 { number = DateNotation.expanded(year: number) }
        guard allowed.contains(number) else { throw failure }
        return ComponentPattern(numbers: number...number)
    }
}
