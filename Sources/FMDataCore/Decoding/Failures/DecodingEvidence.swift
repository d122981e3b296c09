import Foundation

/// What can be found out about an error that came out of a decoder: its cause, its path, and the value at that place.
/// It is collected once, after decoding has failed.
struct DecodingEvidence {
    let cause: DecodingCause
    let path: [any CodingKey]
    /// For a missing key: the other keys of the object.
    var siblings: DecodingCause.OtherKeys?
    var rawValue: String?

    /// An error about a value that is no longer available.
    init(_ error: DecodingError) {
        cause = error.statedCause ?? error.presumedCause(found: nil)
        path = error.path
    }

    /// An error about the value on the tape of a context.
    ///
    /// - Parameter isForeign: whether another decoder threw it. Such a decoder does not know the rest of the answer,
    ///   nor the context's options.
    init(_ error: any Error, in context: DecodingContext, isForeign: Bool) {
        let prefix: [any CodingKey] = context.prefix
        guard let error = error as? DecodingError else {
            cause = .thrown(type(of: error))
            path = prefix
            return
        }
        path = error.path
        let inside = path.dropFirst(prefix.count)
        let node = context.node(at: inside)
        let cause = error.statedCause ?? error.presumedCause(found: node.map { context.entry($0).found })
        switch (cause, node) {
        case (.missing(let name), _):
            let object = context.node(at: inside.dropLast())
            siblings = object.flatMap { context.siblings(of: name, in: $0, isForeign ? .exact : context.options.keys) }
            self.cause = cause
        case (.refused, let node?) where !isForeign:
            self.cause = context.refusal(of: node) ?? cause
        default:
            self.cause = cause
        }
        rawValue = node.flatMap(context.rawValue)
    }
}

extension DecodingError {
    /// The path to the value, or to the place where a missing value would be.
    fileprivate var path: [any CodingKey] {
        switch self {
        case .typeMismatch(_, let place), .valueNotFound(_, let place), .dataCorrupted(let place): place.codingPath
        case .keyNotFound(let key, let place): place.codingPath + [key]
        @unknown default: []
        }
    }

    /// The cause that FMData's own decoder set as the underlying error.
    var statedCause: DecodingCause? {
        switch self {
        case .typeMismatch(_, let place), .valueNotFound(_, let place), .keyNotFound(_, let place),
            .dataCorrupted(let place):
            place.underlyingError as? DecodingCause
        @unknown default: nil
        }
    }

    /// The cause of an error that other code threw. Its text may contain values, so it is not read.
    fileprivate func presumedCause(found: DecodingCause.ValueKind?) -> DecodingCause {
        switch self {
        case .typeMismatch(let type, _): .otherKind(wanted: type, found: found)
        case .valueNotFound(let type, let place):
            place.codingPath.last?.intValue != nil && found == nil ? .exhausted : .otherKind(wanted: type, found: .null)
        case .keyNotFound(let key, _): .missing(name: key.stringValue)
        case .dataCorrupted: .refused(found: found)
        @unknown default: .refused(found: found)
        }
    }
}

extension DecodingContext {
    /// The id of the record on the tape.
    var recordId: Int? { node(at: [DecodingKey("recordId")]).flatMap { try? wireInteger($0) } }

    private static let maximumRawValue = 1_000

    /// The JSON text of a value, cut after `maximumRawValue` bytes.
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

    /// The other keys of the object in which a key is missing.
    fileprivate func siblings(
        of name: String,
        in object: UInt32,
        _ keys: DecodingOptions.KeyStrategy
    ) -> DecodingCause.OtherKeys? {
        guard isOnTape(object), document[object].kind == .object else { return nil }
        let count = Int(document[object].length)
        if case .custom = keys {
            return .init(count: count, near: NearNames.near(name, among: customNames(object).list.map(\.name)))
        }
        let names = sequence(state: object + 1) { index -> String? in
            guard index < self.document[object].link else { return nil }
            defer { index = self.document.tape.end(of: index + 1) }
            return self.document.text(self.document[index])
        }
        return .init(
            count: count,
            near: NearNames.near(name, among: names),
            names: count <= Self.fewNames ? Array(names) : []
        )
    }

    /// The largest number of names that a message lists. Only messages about portals list names.
    private static var fewNames: Int { 8 }

    /// The reason why the standard library or Foundation refused a value. Their errors do not name the type, so this
    /// checks the type whose decoding began last, and returns `nil` if that type accepts the value.
    fileprivate func refusal(of node: UInt32) -> DecodingCause? {
        let declared = expectedType
        let found = entry(node).found
        if declared == UUID.self, found == .text || found == .emptyText {
            guard UUID(uuidString: document.text(entry(node))) == nil else { return nil }
            return found == .emptyText
                ? .empty(wanted: declared) : .unreadable(wanted: declared, form: "UUID")
        }
        guard let enumeration = declared as? any RawRepresentable.Type, hasNoCase(enumeration, for: node) else {
            return nil
        }
        return .noCase(wanted: declared, found: found)
    }

    private func hasNoCase<Enum: RawRepresentable>(_ type: Enum.Type, for node: UInt32) -> Bool {
        guard let rawType = Enum.RawValue.self as? any Decodable.Type,
            let raw = try? decode(rawType, node, .fields) as? Enum.RawValue
        else { return false }
        return Enum(rawValue: raw) == nil
    }
}
