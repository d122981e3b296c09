/// A criterion on a date, time or timestamp field. Omitted components match any value: `6/2024` is a month, `4` an
/// hour.
enum MomentCriterion: Equatable, Sendable {
    case date(DatePattern)
    case time(TimePattern)
    case timestamp(DatePattern, TimePattern)
    /// Bounds as day numbers or microseconds, both included; nil is an open end.
    case range(Solution.FieldType, from: Int?, to: Int?)

    init(_ text: String, type: Solution.FieldType, today: CivilDate, dates: Sandbox.CriterionDates) throws {
        let reader = MomentReader(type: type, today: today, dates: dates)
        if let (comparison, rest) = CriterionComparison.split(text) {
            let bounds = try reader.bounds(CriterionReader.plain(rest))
            switch comparison {
            case .less: self = .range(type, from: nil, to: bounds.earliest - 1)
            case .lessOrEqual: self = .range(type, from: nil, to: bounds.latest)
            case .greater: self = .range(type, from: bounds.latest + 1, to: nil)
            case .greaterOrEqual: self = .range(type, from: bounds.earliest, to: nil)
            }
            return
        }
        var text = CriterionReader.plain(text)
        while text.hasPrefix("=") { text = String(text.dropFirst()).trimmed }
        if type != .time, let days = MomentReader.weekdays(text) {
            let pattern = DatePattern(weekdays: days)
            self = type == .date ? .date(pattern) : .timestamp(pattern, TimePattern())
        } else if let (from, to) = RangeSign.split(text), !(from.isEmpty && to.isEmpty) {
            self = .range(
                type,
                from: from.isEmpty ? nil : try reader.bounds(from).earliest,
                to: to.isEmpty ? nil : try reader.bounds(to).latest
            )
        } else {
            self = try reader.pattern(text)
        }
    }

    func matches(_ text: String) -> Bool {
        switch self {
        case .date(let pattern):
            return DateNotation.us.date(from: text).map(pattern.matches) ?? false
        case .time(let pattern):
            return CivilTime(text: text).map(pattern.matches) ?? false
        case .timestamp(let date, let time):
            guard let value = DateNotation.us.timestamp(from: text) else { return false }
            return date.matches(value.date) && time.matches(value.time)
        case .range(let type, let from, let to):
            let number: Int? =
                switch type {
                case .date: DateNotation.us.date(from: text)?.number
                case .time: CivilTime(text: text)?.microseconds
                default: DateNotation.us.timestamp(from: text)?.microseconds
                }
            guard let number else { return false }
            return from.map { $0 <= number } ?? true && to.map { number <= $0 } ?? true
        }
    }
}

/// One component of a date or a time: a number, a range of numbers (`{1..15}`), or any number (`*`, or omitted).
struct ComponentPattern: Equatable, Sendable {
    var numbers: ClosedRange<Int>?

    static let any = ComponentPattern(numbers: nil)

    func matches(_ number: Int) -> Bool { numbers?.contains(number) ?? true }
}

struct DatePattern: Equatable, Sendable {
    var year = ComponentPattern.any
    var month = ComponentPattern.any
    var day = ComponentPattern.any
    /// 0 is Sunday; nil is any day.
    var weekdays: Set<Int>?

    func matches(_ date: CivilDate) -> Bool {
        if let weekdays { return weekdays.contains(date.weekday) }
        let (year, month, day) = date.components
        return self.year.matches(year) && self.month.matches(month) && self.day.matches(day)
    }

    /// The first and the last day that the pattern allows; nil if it allows none.
    var bounds: (earliest: CivilDate, latest: CivilDate)? {
        let years = year.numbers ?? 1...4000
        let months = month.numbers ?? 1...12
        guard (1...12).contains(months.lowerBound), (1...12).contains(months.upperBound) else { return nil }
        let days = day.numbers ?? 1...31
        guard (1...4000).contains(years.upperBound),
            let earliest = CivilDate(year: years.lowerBound, month: months.lowerBound, day: days.lowerBound),
            let latest = CivilDate(
                year: years.upperBound,
                month: months.upperBound,
                day: min(days.upperBound, CivilDate.days(inMonth: months.upperBound, year: years.upperBound))
            )
        else { return nil }
        return (earliest, latest)
    }
}

extension DatePattern {
    /// The pattern of one day.
    init(_ date: CivilDate) {
        let (year, month, day) = date.components
        self.init(
            year: ComponentPattern(numbers: year...year),
            month: ComponentPattern(numbers: month...month),
            day: ComponentPattern(numbers: day...day)
        )
    }
}

struct TimePattern: Equatable, Sendable {
    var hour = ComponentPattern.any
    var minute = ComponentPattern.any
    var second = ComponentPattern.any
    /// Open unless the criterion has a fraction of a second, which must then match exactly.
    var fraction = ComponentPattern.any

    func matches(_ time: CivilTime) -> Bool {
        hour.matches(time.microseconds < 0 ? -time.hours : time.hours) && minute.matches(time.minutes)
            && second.matches(time.seconds) && fraction.matches(time.fraction)
    }

    var bounds: (earliest: Int, latest: Int) {
        func sum(_ bound: (ComponentPattern) -> Int?, _ open: [Int]) -> Int {
            let parts = zip([hour, minute, second, fraction], open).map { bound($0) ?? $1 }
            return parts[0] * CivilTime.hour + parts[1] * CivilTime.minute + parts[2] * CivilTime.second + parts[3]
        }
        return (sum(\.numbers?.lowerBound, [0, 0, 0, 0]), sum(\.numbers?.upperBound, [23, 59, 59, 999_999]))
    }
}
