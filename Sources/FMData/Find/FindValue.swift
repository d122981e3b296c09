public import Foundation

extension DataAPI {
    /// A value that records can be searched for.
    ///
    /// A type of your own conforms by giving the text that FileMaker has to look for, or, as an enum with a raw value,
    /// by declaring the conformance alone. The text is escaped; operators in it are ordinary characters.
    public protocol FindValue: Sendable {
        /// The text of the value as FileMaker reads it, in US formats for dates and times (``FindText``). `nil` when the
        /// value has none, as "not a number".
        var findText: String? { get }

        /// Whether FileMaker compares the value as a whole, as it does numbers, dates and times, and not word by word as
        /// text. Then two comparisons of one field can be joined to a range. `true` unless the type says otherwise.
        static var isOrderedInFinds: Bool { get }
    }
}

extension DataAPI.FindValue {
    /// Whether a find can compare it by size.
    public static var isOrderedInFinds: Bool { true }
}

extension DataAPI.FindValue where Self: RawRepresentable, RawValue: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { rawValue.findText }
    /// Whether a find can compare it by size.
    public static var isOrderedInFinds: Bool { RawValue.isOrderedInFinds }
}

extension String: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { self }
    /// Whether a find can compare it by size.
    public static var isOrderedInFinds: Bool { false }
}

extension Substring: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { String(self) }
    /// Whether a find can compare it by size.
    public static var isOrderedInFinds: Bool { false }
}

extension Int: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { String(self) }
}

extension Int64: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { String(self) }
}

extension Double: DataAPI.FindValue {
    /// The shortest decimal digits that name this number, never with an exponent, which FileMaker would read as digits.
    public var findText: String? { isFinite ? DataAPI.FindText.withoutExponent(description) : nil }
}

extension Decimal: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { isFinite ? DataAPI.FindText.withoutExponent(description) : nil }
}

extension FMNumber: DataAPI.FindValue {
    /// The digits of the number, never with an exponent, which FileMaker would read as digits; `nil` for a number beyond those
    /// that FileMaker holds, which end at 10^400.
    public var findText: String? {
        let number = canonical
        if number.digits.isEmpty { return "0" }
        return (-1_000...1_000).contains(number.exponent) ? DataAPI.FindText.withoutExponent(literal) : nil
    }
}

extension Bool: DataAPI.FindValue {
    /// 1 or 0, as FileMaker keeps truth in number fields.
    public var findText: String? { self ? "1" : "0" }
}

extension UUID: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { uuidString }
    /// Whether a find can compare it by size.
    public static var isOrderedInFinds: Bool { false }
}
