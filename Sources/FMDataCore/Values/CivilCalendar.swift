import Foundation

/// The proleptic Gregorian calendar as plain arithmetic, without locale, time zone or formatter.
enum CivilCalendar {
    static let secondsPerDay = 86_400

    static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The number of days from 1970-01-01 to the given day.
    static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        // Years are counted from March, so that the leap day is the last day of its year.
        let year = month > 2 ? year : year - 1
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let century = floorDivide(year, 400)
        let yearOfCycle = year - century * 400
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        return century * 146_097 + dayOfCycle - 719_468
    }

    /// The day that is `dayNumber` days after 1970-01-01.
    static func day(_ dayNumber: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = dayNumber + 719_468
        let century = floorDivide(shifted, 146_097)
        let dayOfCycle = shifted - century * 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfCycle + century * 400 + (month <= 2 ? 1 : 0)
        return (year, month, day)
    }

    static func floorDivide(_ number: Int, _ divisor: Int) -> Int {
        let quotient = number / divisor
        return number % divisor < 0 ? quotient - 1 : quotient
    }
}

/// Converts wall time to instants: it gives the offset of a time zone for a wall time.
///
/// A `TimeZone` needs a microsecond for each offset, and a page of records has the same days again and again. So
/// offsets are cached for days on which the clocks do not change.
struct WallClock {
    private static let slots = 256

    let timeZone: TimeZone
    /// GMT has the fixed offset 0, so no lookup is needed; `nil` for other zones.
    private let fixedOffset: Int?
    private var days: [Int]
    private var offsets: [Int]

    init(timeZone: TimeZone) {
        self.timeZone = timeZone
        fixedOffset = timeZone == .gmt ? 0 : nil
        days = []
        offsets = []
    }

    /// The seconds east of GMT while the clocks show `wallSeconds` (seconds since 1970 as if GMT).
    mutating func offset(at wallSeconds: Int) -> Int {
        if let fixedOffset { return fixedOffset }
        if days.isEmpty {
            days = Array(repeating: .min, count: WallClock.slots)
            offsets = Array(repeating: 0, count: WallClock.slots)
        }
        let day = CivilCalendar.floorDivide(wallSeconds, CivilCalendar.secondsPerDay)
        let slot = day & (WallClock.slots - 1)
        if days[slot] == day { return offsets[slot] }
        let offset = WallClock.offset(at: wallSeconds, in: timeZone)
        let start = day * CivilCalendar.secondsPerDay
        // No zone is more than a day away from GMT, so equal offsets at this distance mean a day without change.
        let before = WallClock.offset(atInstant: start - CivilCalendar.secondsPerDay, in: timeZone)
        let after = WallClock.offset(atInstant: start + 2 * CivilCalendar.secondsPerDay, in: timeZone)
        if before == after, after == offset {
            days[slot] = day
            offsets[slot] = offset
        }
        return offset
    }

    static func offset(at wallSeconds: Int, in timeZone: TimeZone) -> Int {
        let before = offset(atInstant: wallSeconds - CivilCalendar.secondsPerDay, in: timeZone)
        let after = offset(atInstant: wallSeconds + CivilCalendar.secondsPerDay, in: timeZone)
        // The larger offset gives the earlier instant: the first of the two if clocks were set back.
        for candidate in [max(before, after), min(before, after)]
        where offset(atInstant: wallSeconds - candidate, in: timeZone) == candidate {
            return candidate
        }
        return before
    }

    private static func offset(atInstant seconds: Int, in timeZone: TimeZone) -> Int {
        timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    }
}
