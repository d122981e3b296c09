// What a layout tells of its fields beyond "not empty" and a length, as rules that a program names: a generated model has them of
// the layout as it was fetched.

extension DataAPI.ValidationRules {
    /// A value has to be a number from end to end. Empty is allowed.
    public mutating func requireNumber(_ field: Key) {
        check(field, DataAPI.InvalidValue.Rule.number.description) { value in
            guard case .text(var text) = value else { return true }
            return text.withUTF8 { NumberText.literal(of: $0, separator: UInt8(ascii: ".")) } != nil
        }
    }

    /// The year of a date or a timestamp has to have four digits. Empty is allowed.
    public mutating func requireFourDigitYear(_ field: Key) {
        check(field, DataAPI.InvalidValue.Rule.fourDigitYear.description) { value in
            value.text.split { !$0.isASCII || !$0.isNumber }.contains { $0.count == 4 }
        }
    }

    /// A time has to lie within a day: from 0:00 to before 24:00. Empty is allowed.
    public mutating func requireTimeOfDay(_ field: Key) {
        check(field, DataAPI.InvalidValue.Rule.timeOfDay.description) { value in
            let hours = value.text.prefix { $0 != ":" }
            return hours.hasPrefix("-") ? false : Int(hours).map { $0 < 24 } ?? true
        }
    }
}
