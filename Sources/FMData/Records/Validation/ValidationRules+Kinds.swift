// Rules for what a layout says about its fields beyond "not empty" and a length. A generated model has them as the
// layout was when it was fetched.

extension DataAPI.ValidationRules {
    /// A value must be a number as a whole. Empty is allowed.
    public mutating func requireNumber(_ field: Key) {
        check(field, DataAPI.InvalidValue.Rule.number.description) { value in
            guard case .text(var text) = value else { return true }
            return text.withUTF8 { NumberText.literal(of: $0, separator: UInt8(ascii: ".")) } != nil
        }
    }

    /// The year of a date or a timestamp must have four digits. Empty is allowed.
    public mutating func requireFourDigitYear(_ field: Key) {
        check(field, DataAPI.InvalidValue.Rule.fourDigitYear.description) { value in
            value.text.split { !$0.isASCII || !$0.isNumber }.contains { $0.count == 4 }
        }
    }

    /// A time must lie within a day: from 0:00 to before 24:00. Empty is allowed.
    public mutating func requireTimeOfDay(_ field: Key) {
        check(field, DataAPI.InvalidValue.Rule.timeOfDay.description) { value in
            let hours = value.text.prefix { $0 != ":" }
            return hours.hasPrefix("-") ? false : Int(hours).map { $0 < 24 } ?? true
        }
    }
}
