/// How answers are decoded. Each rule about FileMaker's values can be turned off. The rules apply in `fieldData` and in
/// portal rows; everything else in an answer is plain JSON.
///
///     var options = DecodingOptions()
///     options.values.timeZone = TimeZone(identifier: "Europe/Zurich")!
///     options.keys = .withoutTable
public struct DecodingOptions: Sendable {
    /// The format of dates, the time zone and the decimal separator.
    public var values: ValueOptions
    /// Numbers may come as text, because FileMaker's number fields hold text. On by default; if off, a text is never a
    /// number.
    public var numbersFromText = true
    /// Which texts are numbers. The default is ``Numbers/asWritten``; other texts, such as `"12 kg"`, are an error.
    public var numbers = Numbers.asWritten
    /// A `String` declared for a number field gets exactly its digits. On by default.
    public var textFromNumbers = true
    /// A `Bool` follows FileMaker: a number other than zero is `true`, also as text. An empty field or one of white
    /// space is `false`, and `nil` for an optional. A text without a digit, such as `"yes"`, is an error. On by
    /// default; if off, only the JSON words `true` and `false` are booleans.
    public var booleansFromNumbers = true
    /// An empty field (`""`) is `nil` for an optional, unless an empty text is a value of its type, as for `String`.
    /// For numbers and `Bool`, a text of only white space counts as empty. On by default.
    public var emptyIsNil = true
    /// An empty field (`""`) is `nil` for an optional text too: `String?`, `FieldValue?`. Off by default: FileMaker
    /// does not distinguish an empty text from none, and a `nil` is written as `""` by default
    /// (``EncodingOptions/nilValues``), so it is read as `""`. Needs ``emptyIsNil``.
    public var emptyTextIsNil = false
    /// An empty field (`""`) is 0 for a number that is not optional. Off by default, where it is an error.
    public var emptyIsZero = false
    /// `Date` reads the text of a timestamp or date field in ``ValueOptions/format`` and ``ValueOptions/timeZone``. On
    /// by default; if off, it is decoded as with Foundation's decoder: seconds since 2001.
    public var datesFromText = true
    /// An array reads the repetitions `name(1)`, `name(2)` … of a field by the key `name`, and a single value reads the
    /// first of them. On by default.
    ///
    /// Each repetition keeps its position. If the layout does not show one before others, it is `nil` for optional
    /// elements and an error for others. An empty repetition keeps its position too, also at the end, as the element
    /// type's value for an empty field: `""`, `nil`, ``DataAPI/ContainerReference/empty``, a list without values. For a
    /// type without such a value, like `Int` and ``FMDate``, empty repetitions at the end are left out, and one before
    /// others is an error.
    public var repetitions = true
    /// In an answer without any portal, because the layout has none or the request asked for none, a portal is read as
    /// an empty array. On by default; if off, its key is missing. In an answer with other portals, a missing portal is
    /// always an error that names them, because servers send a portal without rows as an empty array. Declare a portal
    /// as optional if it may be absent.
    public var absentPortalsAreEmpty = true
    /// How names of fields are matched with coding keys.
    public var keys = KeyStrategy.exact
    /// What happens if an object has the same key twice. Rows of two portals of one name are never dropped: a
    /// dictionary has the second portal as "Phones(2)", and a type with a member for "Phones" fails.
    public var duplicateKeys = DuplicateKeys.keepFirst
    /// What happens with strings that are not valid JSON or UTF-8: some proxies send raw line breaks or incomplete
    /// characters.
    public var malformedText = MalformedText.refuse
    /// The greatest depth of nested objects and arrays. The default is 128; real answers have 6.
    public var maximumDepth = 128
    /// The greatest size of one record in bytes. The default is 64 MiB.
    public var maximumRecordBytes = 64 << 20

    /// Options with all rules at their defaults.
    ///
    /// - Parameter values: The format of dates, the time zone and the decimal separator.
    public init(values: ValueOptions = ValueOptions()) {
        self.values = values
    }

    /// Plain JSON, as Foundation's `JSONDecoder` reads it: every FileMaker rule is off.
    public static var plain: DecodingOptions {
        var options = DecodingOptions()
        options.numbersFromText = false
        options.textFromNumbers = false
        options.booleansFromNumbers = false
        options.emptyIsNil = false
        options.datesFromText = false
        options.repetitions = false
        options.absentPortalsAreEmpty = false
        return options
    }

    /// Which texts are numbers, for ``numbersFromText``.
    ///
    /// It applies to properties of a record that are declared as numbers, and to the elements of their lists. If the
    /// `init(from:)` of your own type tries several types with a `singleValueContainer()`, the kinds of JSON decide, as
    /// with `JSONDecoder`: there a text is a number only if it is written exactly like one, as `"36"` is and `"036"` is
    /// not. ``FMNumber`` always reads as FileMaker does, regardless of this setting.
    public enum Numbers: Hashable, Sendable {
        /// A text that is a number as a whole: `"36"`, `" -1.50"`, `".5"`, `"007"`, `"1e3"`. Anything else is an error:
        /// `"12 kg"`, and `"11..36"` with its two points.
        case asWritten
        /// The number that FileMaker reads from a text by the rule of ``FMNumber/init(_:decimalSeparator:)``: 12 from
        /// `"12 kg"`, -12 from `"B-12a"`. A text without a number is an error, and `nil` for an optional; a text
        /// without a digit is no boolean.
        case asFileMaker
    }

    /// How the names in `fieldData` and in portal rows (`Name`, `Table::Name`) are matched with coding keys.
    public enum KeyStrategy: Sendable {
        /// The coding key is the name in the JSON text, with its table if it has one:
        /// `case article = "Lines::Article"`.
        case exact
        /// Like ``exact``, but a key that is not found also matches the first name that equals it after its `::`. So
        /// for the rows of a portal on `Lines`, `case article = "Article"` is enough.
        case withoutTable
        /// The coding key is the result of the function for the name in the JSON text.
        case custom(@Sendable (String) -> String)
    }

    /// Which of two members with the same name is used.
    public enum DuplicateKeys: Hashable, Sendable {
        /// The first one, as with Foundation's decoder.
        case keepFirst
        /// Neither: decoding fails.
        case refuse
    }

    /// What happens with a string that violates the rules of JSON.
    public enum MalformedText: Hashable, Sendable {
        /// Decoding fails.
        case refuse
        /// Control characters stay, bytes that are not Unicode become U+FFFD, and a backslash that escapes nothing
        /// stays.
        case repair
    }

    var limits: JSONLimits {
        JSONLimits(
            maximumDepth: maximumDepth,
            maximumValueBytes: maximumRecordBytes,
            repairsText: malformedText == .repair,
            refusesDuplicateKeys: duplicateKeys == .refuse
        )
    }
}
