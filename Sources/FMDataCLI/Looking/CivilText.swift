import FMData

/// Dates, times and timestamps as the user types and reads them, ISO 8601, and as they travel.
enum CivilText {
    /// A value of an answer for the user. A text that is no date stays as it is.
    static func shown(_ text: String, _ type: LayoutFields.Field.CalcResult?) -> String {
        switch type {
        case .date?: FMDate(text, format: .us)?.text(.iso) ?? text
        case .time?: FMTime(text, format: .us)?.text(.iso) ?? text
        case .timeStamp?: FMTimestamp(text, format: .us)?.text(.iso) ?? text
        default: text
        }
    }

    /// A value of the user for a request. Throws if a date, a time or a timestamp is none.
    ///
    /// - Parameter format: The form that dates may have beside ISO 8601.
    static func sent(
        _ text: String,
        to field: LayoutFields.Field,
        format: ValueFormat = .iso
    ) throws(CommandError) -> String {
        if text.isEmpty { return text }
        switch field.result {
        case .date:
            guard let date = FMDate(text, format: format) ?? FMDate(text) else {
                throw unreadable(text, field, "a date such as \(sample?.date.text(format) ?? "")")
            }
            return date.text(.us)
        case .time:
            if let time = FMTime(text, format: format) { return time.text(.us) }
            return try time(text, field).text(.us)
        case .timeStamp:
            guard let timestamp = FMTimestamp(text, format: format) ?? FMTimestamp(text) ?? FMTimestamp(text + ":00")
            else {
                throw unreadable(text, field, "a timestamp such as \(sample?.text(format) ?? "")")
            }
            return timestamp.text(.us)
        default: return text
        }
    }

    private static let sample = FMTimestamp("2026-11-01T09:30:00")

    /// A time, with seconds or without.
    static func time(_ text: String, _ field: LayoutFields.Field) throws(CommandError) -> FMTime {
        guard let time = FMTime(text) ?? FMTime(text + ":00") else {
            throw unreadable(text, field, "a time such as 09:30:00")
        }
        return time
    }

    static func unreadable(_ text: String, _ field: LayoutFields.Field, _ expected: String) -> CommandError {
        CommandError("\(field.name): expected \(expected), found \"\(text)\".", .usage)
    }
}
