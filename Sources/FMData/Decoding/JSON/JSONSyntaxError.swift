/// An error of a text that is not JSON, or exceeds the limits, with its position.
struct JSONSyntaxError: Error, Hashable {
    enum Reason: Hashable {
        case unexpectedByte
        case truncated
        case invalidNumber
        case numberTooLong
        case controlCharacter
        case invalidEscape
        case loneSurrogate
        case invalidUTF8
        case tooDeep(limit: Int)
        case tooLarge(limit: Int)
        case duplicateKey
        case trailingBytes
        case missingEnvelope
    }

    var reason: Reason
    /// The number of bytes before the fault, from the start of the body.
    var offset: Int
}

extension JSONSyntaxError: CustomStringConvertible {
    var description: String { "\(reason.text) at byte \(offset)" }
}

extension JSONSyntaxError.Reason {
    var text: String {
        switch self {
        case .unexpectedByte: "unexpected character"
        case .truncated: "the text ends too early"
        case .invalidNumber: "not a JSON number"
        case .numberTooLong: "a number of more than \(JSONDocument.maximumNumberBytes) digits"
        case .controlCharacter: "unescaped control character in a string"
        case .invalidEscape: "invalid escape in a string"
        case .loneSurrogate: "half of a surrogate pair in a string"
        case .invalidUTF8: "invalid UTF-8 in a string"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .tooLarge(let limit): "one value of more than \(limit) bytes"
        case .duplicateKey: "a key that the object has already"
        case .trailingBytes: "more text after the end of the value"
        case .missingEnvelope: "no Data API envelope (an object with \"response\" and \"messages\")"
        }
    }
}
