/// Why no value could be made: what was wanted and what stands there, and nothing of the value itself.
///
/// It travels below the `DecodingError` that is thrown. ``DecodingExplanation`` makes words of it once that error leaves the
/// decoder: a type that tries one thing after the other pays for no long texts.
enum DecodingCause: Error {
    /// Another kind of JSON value than the type is made of; which one is not known of other decoders.
    case otherKind(wanted: any Any.Type, found: Found?)
    /// An empty field, for a type that is not optional.
    case empty(wanted: any Any.Type)
    /// A text without a number in it.
    case noNumber(wanted: any Any.Type)
    /// A text with a number in it, and more than that.
    case numberInText(wanted: any Any.Type, hasLines: Bool)
    /// A number that an integer cannot hold.
    case fraction(wanted: any Any.Type)
    /// A number beyond the range of its type, or of more digits than it holds.
    case tooLarge(wanted: any Any.Type)
    /// A text that is no date or time in any of these forms.
    case otherForm(wanted: any Any.Type, forms: [String], hasLines: Bool)
    /// A text that is none of what the type is made of: no URL, no UUID.
    case unreadable(wanted: any Any.Type, form: String)
    /// A text or number for which an enum has no case.
    case noCase(wanted: any Any.Type, found: Found)
    /// A key that is not there; ``Siblings`` are looked at when the text is made.
    case missing(name: String)
    /// A type that asks for itself at the same place again and again.
    case endless(wanted: any Any.Type)
    /// A repetition that is not there, while later ones are.
    case gap(wanted: any Any.Type)
    /// Two names that a dictionary takes for one.
    case sameName(wanted: any Any.Type)
    /// Two portals that come under one name.
    case samePortal
    /// A list without a further element.
    case exhausted
    /// The type itself refused what stands there, by a `DecodingError` of its own.
    case refused(found: Found?)
    /// The type itself threw an error of its own.
    case thrown(any Any.Type)
    /// A fault of the text or of the answer as a whole, in its own words.
    case stated(String)

    /// What stands at a place.
    enum Found {
        case object, list, text, emptyText, number, boolean, null
    }

    /// What an object holds instead of a key.
    struct Siblings {
        var count: Int
        /// The names that may have been meant.
        var near: [String]
        /// All names, where they are few.
        var names: [String] = []
    }
}

extension JSONTape.Entry {
    var found: DecodingCause.Found {
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

extension DecodingCause.Found: CustomStringConvertible {
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

// What is thrown: a `DecodingError`, as of every decoder, with the cause below it. No text here holds a value: the values of
// fields are nobody's business but the caller's.
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
    /// The place of an error whose cause is known.
    init(codingPath: [any CodingKey], cause: DecodingCause) {
        self.init(
            codingPath: codingPath,
            debugDescription: DecodingExplanation(cause: cause).reason,
            underlyingError: cause
        )
    }
}
