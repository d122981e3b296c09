import FMHTTP

/// Which of the fields of a failed request its error can be about: "Field is missing" and the validation codes do not say.
struct FieldSuspicion {
    private typealias Field = DataAPI.Layout.LayoutMetaData.FieldMetaData

    private let error: FMRest.APIError
    private let code: FileMakerErrorCode
    private let layout: String
    private let named: [NamedField]

    /// `nil` for an error that is about no field, and for a request that names none.
    init?<Response>(_ error: FMRest.APIError, about request: DataAPIRequest<Response>) {
        guard let code = error.fileMakerCode, code == .fieldMissing || code == .fieldNotModifiable || code.isValidation,
            code != .recordModifiedElsewhere, let layout = request.layout
        else { return nil }
        let named = request.namedFields
        // A new record fails for a field that was not sent as well.
        guard !named.isEmpty || code == .valueRequired && request.method == .POST else { return nil }
        self.error = error
        self.code = code
        self.layout = layout
        self.named = named
    }

    /// The error, with the fields in ``FMRest/APIError/fields`` and in its reason.
    func naming(fieldsOn metadata: DataAPI.Layout.LayoutMetaData) -> FMRest.APIError {
        let shown = metadata.fieldMetaData + metadata.portalMetaData.values.joined()
        let byName = Dictionary(shown.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        let fields = code == .fieldMissing ? missing(byName) : suspects(metadata, byName)
        guard !fields.isEmpty else { return error }
        var error = error
        error.fields = fields
        error.reason += (error.reason.hasSuffix(".") ? " " : ": ") + sentence(about: fields)
        return error
    }

    private func sentence(about fields: [String]) -> String {
        let names = fields.map { "\"\($0)\"" }.joined(separator: ", ")
        if code == .fieldMissing { return "\(names) \(fields.count == 1 ? "is" : "are") not on layout \"\(layout)\"." }
        return fields.count == 1 ? "the field can only be \(names)." : "the field is one of \(names)."
    }

    private func missing(_ shown: [String: Field]) -> [String] {
        named.map(\.name).filter { Self.field($0, in: shown) == nil }
    }

    private func suspects(_ shown: DataAPI.Layout.LayoutMetaData, _ byName: [String: Field]) -> [String] {
        guard code == .valueRequired else {
            return named.filter { Self.field($0.name, in: byName).map(canBeMeant) ?? true }.map(\.name)
        }
        // What must not be empty is at fault when it was sent empty or, if it is the record's own, was not sent at all.
        let sent = Dictionary(
            named.map { (Self.plainName($0.name).lowercased(), $0.isEmpty) },
            uniquingKeysWith: { $0 && $1 }
        )
        return byName.values.filter { field in
            let isOwn = !field.name.contains("::") && shown.fieldMetaData.contains(field)
            return field.notEmpty && (sent[field.name.lowercased()] ?? isOwn)
        }
        .map(\.name).sorted()
    }

    /// Whether a code fits what the metadata say of a field. Where they say nothing every field that was sent can be meant.
    private func canBeMeant(_ field: Field) -> Bool {
        switch code {
        case .fieldNotModifiable: field.type != .normal
        case .dateInvalid: field.result == .date || field.result == .timeStamp
        case .timeInvalid: field.result == .time || field.result == .timeStamp
        case .numberInvalid: field.result == .number || field.numeric
        case .valueNotInList: field.valueList != nil
        case .valueTooLong: field.maxCharacters ?? 0 > 0
        case .findValueInvalid: field.result != .text
        default: field.type == .normal
        }
    }

    private static func field(_ name: String, in shown: [String: Field]) -> Field? {
        shown[name.lowercased()] ?? shown[plainName(name).lowercased()]
    }

    /// The name without a repetition and without the older form of a related record's id: `Lines::Price(2).17`.
    private static func plainName(_ name: String) -> String {
        var plain = name[...]
        if let dot = plain.lastIndex(of: "."), plain[plain.index(after: dot)...].isDigits { plain = plain[..<dot] }
        if plain.hasSuffix(")"), let open = plain.lastIndex(of: "("),
            plain[plain.index(after: open)...].dropLast().isDigits
        {
            plain = plain[..<open]
        }
        return String(plain)
    }
}

extension Substring {
    fileprivate var isDigits: Bool {
        !isEmpty && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
