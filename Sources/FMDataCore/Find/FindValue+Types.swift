public import Foundation

extension String: DataAPI.FindValue {
    /// The text itself.
    public var findText: String? { self }
    /// `false`, because text is compared word by word.
    public static var isOrderedInFinds: Bool { false }
}

extension Substring: DataAPI.FindValue {
    /// The text itself.
    public var findText: String? { String(self) }
    /// `false`, because text is compared word by word.
    public static var isOrderedInFinds: Bool { false }
}

extension Int: DataAPI.FindValue {
    /// The digits of the number.
    public var findText: String? { String(self) }
}

extension Int64: DataAPI.FindValue {
    /// The digits of the number.
    public var findText: String? { String(self) }
}

extension Double: DataAPI.FindValue {
    /// The shortest decimal digits for this number, without an exponent, which FileMaker would read as digits; `nil` if
    /// it is not finite.
    public var findText: String? { isFinite ? FindText.withoutExponent(description) : nil }
}

extension Decimal: DataAPI.FindValue {
    /// The digits of the number, without an exponent; `nil` if it is not finite.
    public var findText: String? { isFinite ? FindText.withoutExponent(description) : nil }
}

extension FMNumber: DataAPI.FindValue {
    /// The digits of the number, without an exponent, which FileMaker would read as digits; `nil` for exponents beyond
    /// ±1,000, far outside FileMaker's numbers, which end at 10^400.
    public var findText: String? {
        let number = canonical
        if number.digits.isEmpty { return "0" }
        return (-1_000...1_000).contains(number.exponent) ? FindText.withoutExponent(literal) : nil
    }
}

extension Bool: DataAPI.FindValue {
    /// 1 or 0, FileMaker's truth values in number fields.
    public var findText: String? { self ? "1" : "0" }
}

extension UUID: DataAPI.FindValue {
    /// The UUID as text, in upper case.
    public var findText: String? { uuidString }
    /// `false`, because it is compared as text.
    public static var isOrderedInFinds: Bool { false }
}

// Criteria are always in US format: `dateformats` does not apply to them.

extension FMDate: DataAPI.FindValue {
    /// The date in US format.
    public var findText: String? { text(.us) }
}

extension FMTime: DataAPI.FindValue {
    /// The time in US format.
    public var findText: String? { text(.us) }
}

extension FMTimestamp: DataAPI.FindValue {
    /// The timestamp in US format.
    public var findText: String? { text(.us) }
}
