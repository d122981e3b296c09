extension DataAPI {
    /// A value that records can be searched for.
    ///
    /// Your own type conforms by giving the text that FileMaker has to search for; an enum with a raw value only needs
    /// to declare the conformance. The text is escaped, so operators in it are ordinary characters.
    public protocol FindValue: Sendable {
        /// The text of the value as FileMaker reads it: dates as `MM/dd/yyyy`, times as `HH:mm:ss`, numbers without an
        /// exponent. `nil` if the value has no text, like "not a number". ``FMDate``, ``FMTime`` and ``FMTimestamp``
        /// have this text.
        var findText: String? { get }

        /// Whether FileMaker compares the value as a whole, like numbers, dates and times, instead of word by word like
        /// text. Then two comparisons of one field can be joined to a range. The default is `true`.
        static var isOrderedInFinds: Bool { get }
    }
}

extension DataAPI.FindValue {
    /// The default: `true`.
    public static var isOrderedInFinds: Bool { true }
}

extension DataAPI.FindValue where Self: RawRepresentable, RawValue: DataAPI.FindValue {
    /// The text of the raw value; `nil` if it has none.
    public var findText: String? { rawValue.findText }
    /// The same as for the raw value.
    public static var isOrderedInFinds: Bool { RawValue.isOrderedInFinds }
}
