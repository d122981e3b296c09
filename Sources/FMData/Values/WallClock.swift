import Foundation

/// Wall time to instant: the offset of a time zone for what its clocks show.
///
/// Asking `TimeZone` costs a microsecond, and a page of records asks for the same days again and again: offsets are kept
/// for days on which the clocks are not changed.
struct WallClock {
    private static let slots = 256

    let timeZone: TimeZone
    /// GMT and the other zones without rules need no question at all.
    private let fixedOffset: Int?
    private var days: [Int]
    private var offsets: [Int]

    init(timeZone: TimeZone) {
        self.timeZone = timeZone
        fixedOffset = timeZone == .gmt ? 0 : nil
        days = []
        offsets = []
    }

    /// Seconds east of GMT when the clocks show `wallSeconds` (seconds since 1970 as if GMT).
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
        // No zone is more than a day away from GMT: equal offsets this far out mean a day without change.
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
        // The larger offset gives the earlier instant: the first of the two when clocks were set back.
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
