/// How values are written into requests.
public struct EncodingOptions: Sendable {
    /// The format of dates, which the request has to name as its `dateformats`, and the time zone.
    public var values: ValueOptions
    /// What becomes of `nil` in a record or portal row.
    public var nilValues = NilValues.empty
    /// What becomes of line breaks in texts.
    public var lineBreaks = LineBreaks.carriageReturns
    /// What a `Date` becomes in a record or portal row.
    public var dates = Dates.timestamps
    /// How coding keys become the names of fields.
    public var keys = KeyStrategy.exact

    /// Everything as it is by default.
    ///
    /// - Parameter values: The format of dates, the time zone and the decimal separator.
    public init(values: ValueOptions = ValueOptions()) {
        self.values = values
    }

    /// What becomes of `nil`. The server refuses JSON's `null` (code 1708), so that is not offered.
    public enum NilValues: Hashable, Sendable {
        /// The field is cleared: `""`. That is read back as `nil`, but for texts as `""`, unless
        /// ``DecodingOptions/emptyTextIsNil`` is on.
        case empty
        /// The field, or the repetition of one, is left out and keeps its value; in a new record it gets its auto-entered
        /// one.
        case omit
    }

    /// What a `Date` becomes. It is read from fields of both kinds, and does not know from which: a timestamp that is written
    /// to a date field is refused (code 500). Types that say what they are serve both: ``FMDate`` and ``FMTimestamp``, and
    /// `@FMDateOnly var born: Date` for a single date field.
    public enum Dates: Hashable, Sendable {
        /// The text of a timestamp, right for timestamp fields.
        case timestamps
        /// The text of the day that it is in ``ValueOptions/timeZone``, right for date fields.
        case days
        /// Neither: the request fails with ``FMRest/APIError/Code/encoding``, so that each type has to say what it is.
        case refuse
    }

    /// What becomes of line feeds (`\n`). FileMaker ends lines with a carriage return (`\r`); a line feed is stored as a
    /// character of its own. The values of a ``DataAPI/Find`` go the same way, so that a text is found as it was written.
    public enum LineBreaks: Hashable, Sendable {
        /// Texts are written character by character.
        case asTheyAre
        /// `\n` and `\r\n` become `\r`.
        case carriageReturns
    }

    /// How coding keys become the names of fields.
    public enum KeyStrategy: Sendable {
        /// The coding key is the name.
        case exact
        /// In portal rows the name of the portal stands before the coding key, `Lines::Article`, unless the key has a
        /// table already or is `recordId` or `modId`. Right for portals that are named like their table occurrence, and
        /// the counterpart of ``DecodingOptions/KeyStrategy/withoutTable``.
        case withTable
        /// The name is what the function makes of the coding key; `recordId` and `modId` of rows stay as they are.
        case custom(@Sendable (String) -> String)
    }
}

/// A value that could not be written: where and why. The value itself stays out of it.
public struct EncodingFailure: Error, Sendable, CustomStringConvertible {
    /// The way to the value: coding keys and positions.
    public let path: [String]
    /// Why, in words without the value.
    public let reason: String
    /// What an `encode(to:)` of yours threw; `nil` when it was the encoder that refused. Its text may hold a value.
    public let underlying: (any Error)?

    /// Place and reason, without the value: fit for a log.
    public var description: String {
        "Could not encode" + (path.isEmpty ? "" : " \(path.joined(separator: "."))") + ": \(reason)."
    }
}
