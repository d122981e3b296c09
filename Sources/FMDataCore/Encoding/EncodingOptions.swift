/// How values are written in requests.
public struct EncodingOptions: Sendable {
    /// The format of dates, which must match the `dateformats` of the request, and the time zone.
    public var values: ValueOptions
    /// How `nil` is written in a record or portal row. The default is ``NilValues/empty``.
    public var nilValues = NilValues.empty
    /// How line breaks in texts are written. The default is ``LineBreaks/carriageReturns``.
    public var lineBreaks = LineBreaks.carriageReturns
    /// How a `Date` is written in a record or portal row. The default is ``Dates/timestamps``.
    public var dates = Dates.timestamps
    /// How coding keys become the names of fields. The default is ``KeyStrategy/exact``.
    public var keys = KeyStrategy.exact

    /// Options with all settings at their defaults.
    ///
    /// - Parameter values: The format of dates, the time zone and the decimal separator.
    public init(values: ValueOptions = ValueOptions()) {
        self.values = values
    }

    /// How `nil` is written. There is no option for JSON's `null`, because the server refuses it (code 1708).
    public enum NilValues: Hashable, Sendable {
        /// The field is cleared: `""`. It is read back as `nil`, but for texts as `""`, unless
        /// ``DecodingOptions/emptyTextIsNil`` is on.
        case empty
        /// The field, or one repetition of it, is not sent and keeps its value; in a new record it gets its
        /// auto-entered value.
        case omit
    }

    /// How a `Date` is written. A `Date` can be read from date fields and timestamp fields, but does not know its
    /// field's type; a timestamp written to a date field is refused (code 500). Types that name their kind suit both:
    /// ``FMDate`` and ``FMTimestamp``, and `@FMDateOnly var born: Date` for a single date field.
    public enum Dates: Hashable, Sendable {
        /// The text of a timestamp, right for timestamp fields.
        case timestamps
        /// The text of its day in ``ValueOptions/timeZone``, right for date fields.
        case days
        /// The request fails with ``FMRest/APIError/Code/encoding``, so each type must name the kind of its dates.
        case refuse
    }

    /// How line feeds (`\n`) are written. FileMaker ends lines with a carriage return (`\r`); a line feed is stored as
    /// a character of its own. The values of a ``DataAPI/Find`` are converted in the same way, so a text is found as it
    /// was written.
    public enum LineBreaks: Hashable, Sendable {
        /// Texts are written without changes.
        case asTheyAre
        /// `\n` and `\r\n` become `\r`.
        case carriageReturns
    }

    /// How coding keys become the names of fields.
    public enum KeyStrategy: Sendable {
        /// The coding key is the name of the field.
        case exact
        /// In portal rows the name of the portal precedes the coding key, `Lines::Article`, unless the key contains a
        /// table already or is `recordId` or `modId`. Right for portals that are named like their table occurrence. It
        /// is the counterpart of ``DecodingOptions/KeyStrategy/withoutTable``.
        case withTable
        /// The name is the result of the function for the coding key; `recordId` and `modId` of rows stay as they are.
        case custom(@Sendable (String) -> String)
    }
}

/// An error of a value that could not be written, with place and reason. It does not contain the value.
public struct EncodingFailure: Error, Sendable, CustomStringConvertible {
    /// The path to the value: coding keys and positions.
    public let path: [String]
    /// The reason, in words without the value.
    public let reason: String
    /// The error that an `encode(to:)` or a `JSONEncoder` threw; `nil` if FMData's encoder itself refused the value.
    /// Its text may contain a value.
    public let underlying: (any Error)?

    /// Place and reason, without the value, so that it may go to a log.
    public var description: String {
        "Could not encode" + (path.isEmpty ? "" : " \(path.joined(separator: "."))") + ": \(reason)."
    }
}

extension String {
    /// Whether the text contains a line end of any kind.
    var hasLineEnds: Bool { utf8.contains { $0 == 0x0D || $0 == 0x0A } }

    /// Whether the text contains line feeds, which FileMaker does not use.
    var hasLineFeeds: Bool { utf8.contains(0x0A) }

    /// The text with FileMaker's line ends: a carriage return replaces each line feed, alone or after a carriage
    /// return.
    var withReturns: String {
        guard hasLineFeeds else { return self }
        var bytes: [UInt8] = []
        var last: UInt8 = 0
        for byte in utf8 {
            if byte != 0x0A { bytes.append(byte) } else if last != 0x0D { bytes.append(0x0D) }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
