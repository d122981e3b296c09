/// Why a value could not be decoded: what was wanted and what was found, but no part of the value itself.
///
/// It is the underlying error of the `DecodingError` that is thrown. ``DecodingExplanation`` turns it into words once
/// that error leaves the decoder, so a type that tries several alternatives does not pay for long texts.
enum DecodingCause: Error {
    /// A kind of JSON value that the type is not made of. `found` is unknown for errors of other decoders.
    case otherKind(wanted: any Any.Type, found: ValueKind?)
    /// An empty field, for a type that is not optional.
    case empty(wanted: any Any.Type)
    /// A text without a number in it.
    case noNumber(wanted: any Any.Type)
    /// A text that contains a number and more.
    case numberInText(wanted: any Any.Type, hasLines: Bool)
    /// A number that an integer cannot hold.
    case fraction(wanted: any Any.Type)
    /// A number beyond the range of its type, or of more digits than it holds.
    case tooLarge(wanted: any Any.Type)
    /// A text that is not a date or time in any of these forms.
    case otherForm(wanted: any Any.Type, forms: [String], hasLines: Bool)
    /// A text that cannot be parsed, for example as a URL or UUID.
    case unreadable(wanted: any Any.Type, form: String)
    /// A text or number that matches no case of an enum.
    case noCase(wanted: any Any.Type, found: ValueKind)
    /// A missing key. ``Siblings`` are collected when the text is made.
    case missing(name: String)
    /// A type that decodes itself at the same place without end.
    case endless(wanted: any Any.Type)
    /// A missing repetition, while later ones are there.
    case gap(wanted: any Any.Type)
    /// Two names that are equal as keys of a dictionary.
    case sameName(wanted: any Any.Type)
    /// Two portals with the same name.
    case samePortal
    /// A list that has no further element.
    case exhausted
    /// The type itself refused the value, with a `DecodingError` of its own.
    case refused(found: ValueKind?)
    /// The type itself threw another error, of this type.
    case thrown(any Any.Type)
    /// A fault of the text or of the answer as a whole, in its own words.
    case stated(String)

    /// The kind of value found at a place.
    enum ValueKind {
        case object, list, text, emptyText, number, boolean, null
    }

    /// The other keys of the object in which a key is missing.
    struct OtherKeys {
        var count: Int
        /// The names that are similar to the missing one.
        var near: [String]
        /// All names, if they are few.
        var names: [String] = []
    }
}

extension JSONTape.Entry {
    var found: DecodingCause.ValueKind {
        switch kind {
        case .object: .object
        case .array: .list
        case .key, .string: length == 0 ? .emptyText : .text
        case .number: .number
        case .true, .false: .boolean
        case .null: .null
        }
    }
}

extension DecodingCause.ValueKind: CustomStringConvertible {
    var description: String {
        switch self {
        case .object: "an object"
        case .list: "a list"
        case .text: "a text"
        case .emptyText: "an empty text"
        case .number: "a number"
        case .boolean: "a boolean"
        case .null: "null"
        }
    }
}

// These calls make the `DecodingError` that is thrown, as every decoder does, with the cause as its underlying error.
// No text contains a value, because the values of fields are confidential to the caller.
extension DecodingContext {
    func mismatch(_ type: any Any.Type, _ node: UInt32) -> DecodingError {
        if isGap(node) { return .valueNotFound(type, place(node, .gap(wanted: type))) }
        let found = entry(node).found
        let context = place(node, .otherKind(wanted: type, found: found))
        return found == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func emptyField(_ type: any Any.Type, _ node: UInt32) -> DecodingError {
        .valueNotFound(type, place(node, .empty(wanted: type)))
    }

    func corrupted(_ node: UInt32, _ cause: DecodingCause) -> DecodingError {
        .dataCorrupted(place(node, cause))
    }

    func missing(_ key: some CodingKey, _ object: UInt32) -> DecodingError {
        .keyNotFound(key, place(object, .missing(name: key.stringValue)))
    }

    private func place(_ node: UInt32, _ cause: DecodingCause) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath(node), cause: cause)
    }
}

extension DecodingError.Context {
    /// The context of an error whose cause is known.
    init(codingPath: [any CodingKey], cause: DecodingCause) {
        self.init(
            codingPath: codingPath,
            debugDescription: DecodingExplanation(cause: cause).reason,
            underlyingError: cause
        )
    }
}
