/// How answers are turned into values. Each rule about FileMaker's values can be turned off; they hold in `fieldData` and
/// in portal rows, while everything else in an answer is plain JSON.
///
///     var options = DecodingOptions()
///     options.values.timeZone = TimeZone(identifier: "Europe/Zurich")!
///     options.keys = .withoutTable
public struct DecodingOptions: Sendable {
    /// The format of dates, the time zone and the decimal separator.
    public var values: ValueOptions
    /// A number may come as text: FileMaker's number fields hold text. On by default; off, a text is no number.
    public var numbersFromText = true
    /// Which texts are numbers. The default is ``Numbers/asWritten``: others, such as `"12 kg"`, are an error.
    public var numbers = Numbers.asWritten
    /// A `String` may be declared for a number field and gets exactly its digits. On by default.
    public var textFromNumbers = true
    /// A `Bool` is what FileMaker holds for true: a number other than zero, also as text; an empty field is `false`, and
    /// `nil` for an optional, as is one of white space. A text without a digit, such as `"yes"`, is an error. On by default; off,
    /// only the JSON words `true` and `false` are booleans.
    public var booleansFromNumbers = true
    /// An empty field (`""`) is `nil` for an optional, unless its type takes an empty text for a value, as `String` does. For
    /// numbers and `Bool` a text of nothing but white space is as empty. On by default.
    public var emptyIsNil = true
    /// An empty field (`""`) is `nil` for an optional text too: `String?`, `FieldValue?`. Off by default: FileMaker does
    /// not tell an empty text from none, and a `nil` that is written, as `""` it is (``EncodingOptions/nilValues``), is
    /// read as `""` then. Needs ``emptyIsNil``.
    public var emptyTextIsNil = false
    /// An empty field (`""`) is 0 for a number that is not optional. Off by default: it is an error then.
    public var emptyIsZero = false
    /// `Date` reads the text of a timestamp or date field in ``ValueOptions/format`` and ``ValueOptions/timeZone``. On by
    /// default; off, it decodes as with Foundation's decoder: seconds since 2001.
    public var datesFromText = true
    /// An array reads the repetitions `name(1)`, `name(2)` … of a field by the key `name`, and a single value the first
    /// of them. Each keeps its place: one that the layout does not show, before others, is `nil` for optional elements and an
    /// error for others. An empty one keeps its place too, at the end as well, as what the element's type makes of an empty field:
    /// `""`, `nil`, ``DataAPI/ContainerReference/empty``, a list without values. A type that makes nothing of it, as `Int` and
    /// ``FMDate``, has those at the end left out, and an error for one before others. On by default.
    public var repetitions = true
    /// In an answer without any portal, where the layout has none or the request asked for none, a portal is an empty array.
    /// On by default; off, its key is missing. Where an answer has other portals, one that it lacks is always an error that
    /// names them: a server sends a portal without rows as an empty array. Declare a portal optional that may be absent.
    public var absentPortalsAreEmpty = true
    /// How the name of a field finds its coding key.
    public var keys = KeyStrategy.exact
    /// What happens when an object has the same key twice. Rows of two portals of one name are never dropped:
    /// a dictionary has the second as "Phones(2)", and for a type with a member for "Phones" they are an error.
    public var duplicateKeys = DuplicateKeys.keepFirst
    /// What happens with strings that are not valid JSON or UTF-8: some proxies send raw line breaks or half characters.
    public var malformedText = MalformedText.refuse
    /// Objects and arrays within each other, at most. The default is 128; real answers have 6.
    public var maximumDepth = 128
    /// Bytes of one record, at most. The default is 64 MiB.
    public var maximumRecordBytes = 64 << 20

    /// Every rule as it is by default.
    ///
    /// - Parameter values: The format of dates, the time zone and the decimal separator.
    public init(values: ValueOptions = ValueOptions()) {
        self.values = values
    }

    /// Plain JSON, as Foundation's `JSONDecoder` takes it: every FileMaker rule off.
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
    /// It is about numbers that a record's own properties are declared as, and elements of their lists. In the `init(from:)` of
    /// a type of yours that asks a `singleValueContainer()` for one type after the other, the kinds of JSON decide as with
    /// `JSONDecoder`: there a text is a number only if the number is written just so, as `"36"` is and `"036"` is not.
    /// ``FMNumber`` reads as FileMaker does, whatever this says.
    public enum Numbers: Hashable, Sendable {
        /// A text that is a number from end to end: `"36"`, `" -1.50"`, `".5"`, `"007"`, `"1e3"`. Anything else is an error:
        /// `"12 kg"`, and `"11..36"` with its two points.
        case asWritten
        /// What FileMaker reads out of a text by the rule of ``FMNumber/init(_:decimalSeparator:)``: 12 of `"12 kg"`, -12 of
        /// `"B-12a"`. A text without a number is an error, and `nil` for an optional; a text without a digit is no boolean.
        case asFileMaker
    }

    /// How the names in `fieldData` and in portal rows (`Name`, `Table::Name`) find their coding keys.
    public enum KeyStrategy: Sendable {
        /// The coding key is the name on the wire, with its table if it has one: `case article = "Lines::Article"`.
        case exact
        /// As ``exact``; a key that is not there also stands for the first name that is equal to it after its `::`, so
        /// that the rows of a portal on `Lines` need only `case article = "Article"`.
        case withoutTable
        /// The coding key is what the function makes of the name on the wire.
        case custom(@Sendable (String) -> String)
    }

    /// Which of two members of one name counts.
    public enum DuplicateKeys: Hashable, Sendable {
        /// The first one, as with Foundation's decoder.
        case keepFirst
        /// Neither: an error.
        case refuse
    }

    /// What to make of a string that breaks the rules of JSON.
    public enum MalformedText: Hashable, Sendable {
        /// An error.
        case refuse
        /// Control characters stay, what is no Unicode becomes U+FFFD, a backslash that escapes nothing stays.
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
