/// An answer that could not be turned into values: which record, which field, and why.
///
/// ``description`` names the place and the types; it never holds a field's value, so that it may go to a log. Who needs
/// the value asks for ``rawValue``.
public struct DecodingFailure: Error, Sendable {
    /// The error itself: a `Swift.DecodingError`, or what an `init(from:)` of yours threw. Its own text may hold a value:
    /// Swift's error for an enum without a matching case does.
    public let underlying: any Error
    /// The position of the record in the answer, from 1; `nil` when the fault is not in a record.
    public let recordNumber: Int?
    /// FileMaker's id of the record, when it can be read.
    public let recordId: Int?
    /// The way to the value: `["response", "data", "Index 16", "fieldData", "Age"]`.
    public let path: [String]
    /// What stands at that place in the answer, as JSON, at most 1,000 characters of it; `nil` when there is nothing.
    public let rawValue: String?
    /// For a body that is not valid JSON: the bytes before the fault. `nil` otherwise.
    public let byteOffset: Int?
    /// Why, in words without any value.
    public let reason: String

    /// The same as `Swift.DecodingError`, when it is one.
    public var decodingError: DecodingError? { underlying as? DecodingError }

    /// The name of the field, portal or other key at which it failed.
    public var field: String? { path.last { !$0.hasPrefix("Index ") } }
}

extension DecodingFailure: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Place, record and reason, without the value: fit for a log.
    public var description: String {
        var text = "Could not decode the answer"
        if !path.isEmpty { text += " at " + DecodingFailure.spell(path) }
        var record = recordNumber.map { "record \($0)" }
        if let recordId { record = (record.map { $0 + ", " } ?? "") + "recordId \(recordId)" }
        if let record { text += " (\(record))" }
        return text + ": " + reason
    }

    /// The same as ``description``: what a debugger prints may end up in a log too.
    public var debugDescription: String { description }

    /// Without the value and without the texts of others.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "reason": reason, "path": path, "recordNumber": recordNumber as Any, "recordId": recordId as Any,
                "byteOffset": byteOffset as Any,
            ]
        )
    }

    /// `data[16].fieldData.Age`.
    private static func spell(_ path: [String]) -> String {
        path.reduce(into: "") { text, key in
            if key.hasPrefix("Index ") {
                text += "[\(key.dropFirst(6))]"
            } else {
                text += (text.isEmpty ? "" : ".") + key
            }
        }
    }
}

extension DecodingFailure {
    init(_ error: JSONSyntaxError, path: [String] = [], recordNumber: Int? = nil) {
        self.init(
            underlying: DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error)
            ),
            recordNumber: recordNumber,
            recordId: nil,
            path: path,
            rawValue: nil,
            byteOffset: error.offset,
            reason: error.description + "."
        )
    }

    /// An answer without a part that it must have.
    init(missing key: DecodingKey, in parent: DecodingKey) {
        self.init(
            underlying: DecodingError.keyNotFound(
                key,
                DecodingError.Context(codingPath: [parent], debugDescription: "There is no such key.")
            ),
            recordNumber: nil,
            recordId: nil,
            path: [parent.stringValue, key.stringValue],
            rawValue: nil,
            byteOffset: nil,
            reason: "there is no such key."
        )
    }

    /// An answer with an error code, where records were wanted.
    init(refusal: DataAPI.Message) {
        let reason = "The server refused the request with code \(refusal.code)"
        self.init(
            underlying: DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: reason)),
            recordNumber: nil,
            recordId: nil,
            path: ["messages"],
            rawValue: nil,
            byteOffset: nil,
            reason: reason + "."
        )
    }

    /// An error that came up while the value on the tape of a context was made into something.
    init(_ error: any Error, in context: DecodingContext, recordNumber: Int? = nil) {
        let path: [any CodingKey]
        let reason: String
        switch error {
        case DecodingError.typeMismatch(let type, let place):
            path = place.codingPath
            reason = "expected \(type)"
        case DecodingError.valueNotFound(let type, let place):
            path = place.codingPath
            reason = "\(type) is not optional, and there is no value"
        case DecodingError.keyNotFound(let key, let place) where place.underlyingError is MissingPortal:
            path = place.codingPath + [key]
            reason = place.debugDescription
        case DecodingError.keyNotFound(let key, let place):
            path = place.codingPath + [key]
            reason = "there is no such key; only fields on the layout are sent"
        case DecodingError.dataCorrupted(let place):
            path = place.codingPath
            reason = "the value cannot be read as the type of the field"
        case let error as JSONSyntaxError:
            self.init(error)
            return
        default:
            path = context.prefix
            reason = "\(type(of: error)) thrown by the type itself"
        }
        let node = context.node(at: path.dropFirst(context.prefix.count))
        let recordId = context.node(at: [DecodingKey("recordId")])
        self.init(
            underlying: error,
            recordNumber: recordNumber,
            recordId: recordNumber == nil ? nil : recordId.flatMap { try? context.integer(Int.self, $0, .fields) },
            path: path.map { $0.intValue.map { "Index \($0)" } ?? $0.stringValue },
            rawValue: node.flatMap(context.rawValue),
            byteOffset: nil,
            reason: reason + (node.map { ", found \(context.entry($0).kind.name)" } ?? "") + "."
        )
    }
}

extension DecodingContext {
    private static let maximumRawValue = 1_000

    /// A value as it stands in the text.
    fileprivate func rawValue(_ node: UInt32) -> String? {
        let entry = entry(node)
        switch entry.kind {
        case .string, .key:
            return "\""
                + String(decoding: document.content(entry).prefix(DecodingContext.maximumRawValue), as: UTF8.self)
                + "\""
        case .number, .true, .false, .null:
            return String(decoding: document.content(entry).prefix(DecodingContext.maximumRawValue), as: UTF8.self)
        case .object, .array:
            return nil
        }
    }
}
