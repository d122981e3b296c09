import Foundation

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
