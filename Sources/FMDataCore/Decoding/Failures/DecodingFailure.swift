/// An answer that could not be turned into values: which record, which field, and why.
///
/// ``description`` names the place, what was expected and what was found. It never contains a field's value, so it may
/// go to a log. The value is in ``rawValue``.
///
///     Could not decode the answer at response.data[16].fieldData.Age (record 17, recordId 42): expected Int, found a
///     text without a number in it. Hint: Declare it as String, or as Int? to get nil for such texts.
public struct DecodingFailure: Error, Sendable {
    /// The error itself: a `Swift.DecodingError`, or the error that your own `init(from:)` threw. Its text may contain
    /// a value, as that of Swift's error for an enum without a matching case does.
    public let underlying: any Error
    /// The position of the record in the answer, from 1; `nil` if the fault is not in a record.
    public let recordNumber: Int?
    /// FileMaker's id of the record; `nil` if it could not be read or if the fault is not in a record.
    public let recordId: Int?
    /// The path to the value: `["response", "data", "Index 16", "fieldData", "Age"]`.
    public let path: [String]
    /// The JSON text at that place in the answer, at most 1,000 bytes of it and the quotation marks of a string; `nil`
    /// if there is none, and for objects and lists.
    public let rawValue: String?
    /// For a body that is not valid JSON: the number of bytes before the fault. `nil` otherwise.
    public let byteOffset: Int?
    /// The reason, in words without any value: what was expected and what was found.
    public var reason: String { explanation.reason + "." }
    /// What can be done about it, in words without any value: another declaration, a setting, or the name that may have
    /// been meant. `nil` if no advice is known.
    public var hint: String? { explanation.hint }

    /// Becomes words when they are read: lenient reads keep many failures of which few are printed.
    private let explanation: DecodingExplanation

    var place: DecodingPlace { explanation.place }
    var source: DecodingExplanation.Source { explanation.source }

    /// ``underlying`` as a `Swift.DecodingError`; `nil` if it is another error.
    public var decodingError: DecodingError? { underlying as? DecodingError }

    /// The name of the field, portal or other key at which decoding failed; `nil` if the path has no name.
    public var field: String? { path.last { !$0.hasPrefix("Index ") } }

    /// The name of the portal in whose rows decoding failed, as the answer spells it; `nil` elsewhere.
    public var portal: String? { place.portal }

    /// The position of the portal's row, from 1; `nil` outside of rows.
    public var portalRow: Int? { place.row }

    /// The field, or else the portal, at which decoding failed; empty if it failed elsewhere.
    var fieldsOrPortals: [String] { [place.field ?? place.portal].compactMap(\.self) }
}

extension DecodingFailure: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Place, record, reason and hint, without the value, so that it may go to a log.
    public var description: String { hint.map { "\(summary) Hint: \($0)" } ?? summary }

    /// The description without the hint, for errors that show the hint separately.
    var summary: String {
        var text = source.isAnswer ? "Could not decode the answer" : "Could not decode the JSON"
        if !path.isEmpty { text += " at " + DecodingFailure.spell(path) }
        var places: [String] = []
        if let recordNumber { places.append("record \(recordNumber)") }
        if let recordId { places.append("recordId \(recordId)") }
        if let portal { places.append("portal \(portal.quoted)") }
        if let portalRow { places.append("row \(portalRow)") }
        if !places.isEmpty { text += " (\(places.joined(separator: ", ")))" }
        return text + ": " + reason
    }

    /// The same as ``description``, because the output of a debugger may end up in a log as well.
    public var debugDescription: String { description }

    /// The properties without the value and without the texts of other errors.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "reason": reason, "hint": hint as Any, "path": path, "recordNumber": recordNumber as Any,
                "recordId": recordId as Any, "byteOffset": byteOffset as Any,
            ]
        )
    }

    /// Writes a path as `data[16].fieldData.Age`.
    private static func spell(_ path: [String]) -> String {
        path.reduce(into: "") { text, key in
            if key.hasPrefix("Index ") {
                text += "[\(key.dropFirst(6).description.readable)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.readable
            }
        }
    }
}

extension DecodingFailure {
    init(_ error: JSONSyntaxError, path: [String] = [], source: DecodingExplanation.Source = .answer) {
        self.init(
            error: DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error)
            ),
            path: path,
            byteOffset: error.offset,
            explanation: DecodingExplanation(cause: .stated(error.description), source: source)
        )
    }

    /// An answer that lacks a required part.
    init(missing key: DecodingKey, in parent: DecodingKey) {
        let cause = DecodingCause.missing(name: key.stringValue)
        self.init(
            error: DecodingError.keyNotFound(key, DecodingError.Context(codingPath: [parent], cause: cause)),
            path: [parent.stringValue, key.stringValue],
            explanation: DecodingExplanation(cause: cause, source: .answer)
        )
    }

    /// An answer with an error code, where records were expected.
    init(refusal code: String) {
        let reason = "The server refused the request with code \(code)"
        self.init(
            error: DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: reason)),
            path: ["messages"],
            explanation: DecodingExplanation(cause: .stated(reason), source: .answer)
        )
    }

    /// An error of a decoder, of which only the path and the kind are known.
    init(_ error: DecodingError) {
        let source = DecodingExplanation.Source(isAnswer: false, isForeign: true)
        self.init(error, DecodingEvidence(error), source: source, root: .plain, rules: [])
    }

    /// An error thrown while the value on the tape of a context was decoded.
    ///
    /// - Parameters:
    ///   - source: what was read, and by which decoder.
    ///   - root: the rules for the value on the tape.
    init(
        _ error: any Error,
        in context: DecodingContext,
        recordNumber: Int? = nil,
        source: DecodingExplanation.Source = .answer,
        root: DecodingContext.Mode = .plain
    ) {
        if let error = error as? JSONSyntaxError {
            self.init(error, source: source)
            return
        }
        var source = source
        // Errors of the library's own decoder state their cause.
        source.isForeign = context.recordDecoder != nil && (error as? DecodingError)?.statedCause == nil
        let evidence = DecodingEvidence(error, in: context, isForeign: source.isForeign)
        self.init(
            error,
            evidence,
            source: source,
            root: root,
            rules: context.rules,
            recordNumber: recordNumber,
            recordId: recordNumber.flatMap { _ in context.recordId }
        )
    }

    private init(
        _ error: any Error,
        _ evidence: DecodingEvidence,
        source: DecodingExplanation.Source,
        root: DecodingContext.Mode,
        rules: DecodingContext.Rules,
        recordNumber: Int? = nil,
        recordId: Int? = nil
    ) {
        self.init(
            error: error,
            path: evidence.path.map { $0.intValue.map { "Index \($0)" } ?? $0.stringValue },
            explanation: DecodingExplanation(
                cause: evidence.cause,
                place: DecodingPlace(evidence.path, root: root),
                source: source,
                rules: rules,
                siblings: evidence.siblings
            ),
            recordNumber: recordNumber,
            recordId: recordId,
            rawValue: evidence.rawValue
        )
    }

    private init(
        error: any Error,
        path: [String],
        byteOffset: Int? = nil,
        explanation: DecodingExplanation,
        recordNumber: Int? = nil,
        recordId: Int? = nil,
        rawValue: String? = nil
    ) {
        underlying = error
        self.path = path
        self.byteOffset = byteOffset
        self.explanation = explanation
        self.recordNumber = recordNumber
        self.recordId = recordId
        self.rawValue = rawValue
    }
}

/// The place in a record to which a path leads, if it leads into one.
struct DecodingPlace: Hashable, Sendable {
    /// The rules that apply there.
    var mode: DecodingContext.Mode
    /// The field, by its name on the wire.
    var field: String?
    /// The portal, by its name on the wire.
    var portal: String?
    /// The row of the portal, from 1.
    var row: Int?

    /// - Parameter root: the rules at the start of the path.
    init(_ path: [any CodingKey], root: DecodingContext.Mode) {
        mode = root
        if root == .fields {
            field = path.first?.name
        } else if let start = path.firstIndex(where: { $0.stringValue == "fieldData" }) {
            let inside = path[(start + 1)...]
            if !inside.isEmpty { mode = .fields }
            field = inside.first?.name
        } else if let start = path.firstIndex(where: { $0.stringValue == "portalData" }) {
            let inside = path[(start + 1)...]
            portal = inside.first?.name
            row = inside.dropFirst().first?.intValue.map { $0 + 1 }
            field = inside.dropFirst(2).first?.name
            if portal != nil { mode = row == nil ? .portals : .fields }
        }
    }

    /// Whether FileMaker's rules apply, as they do for the values of fields.
    var isField: Bool { mode == .fields }
}

extension CodingKey {
    /// The key, unless it is a position in a list.
    fileprivate var name: String? { intValue == nil ? stringValue : nil }
}
