import FMHTTP

/// Finds the fields and portals of a failed request that its error can be about: "Field is missing" and the validation
/// codes do not name them.
struct FieldSuspicion: Suspicion {
    private typealias Field = DataAPI.Layout.LayoutMetaData.FieldMetaData

    /// With more possible fields than this, the error does not name them.
    private static let maximumSuspects = 3

    private let error: FMRest.APIError
    private let code: FileMakerErrorCode
    private let layout: String
    private let named: [NamedField]
    private let portals: NamedPortals

    /// `nil` for an error that is about no field, and for a request that names no field or portal.
    init?<Response>(_ error: FMRest.APIError, about request: DataAPIRequest<Response>) {
        guard let code = error.fileMakerCode, code == .fieldMissing || code == .fieldNotModifiable || code.isValidation,
            code != .recordModifiedElsewhere, let layout = request.layout
        else { return nil }
        let named = request.namedFields
        let portals = code == .fieldMissing ? request.namedPortals : NamedPortals(names: [])
        // Creating a record also fails for a required field that was not sent.
        guard !named.isEmpty || !portals.names.isEmpty || code == .valueRequired && request.method == .POST
        else { return nil }
        self.error = error
        self.code = code
        self.layout = layout
        self.named = named
        self.portals = portals
    }

    /// The layout whose metadata are needed: the one with the fields, or the one that shapes the answer when there are
    /// portals only.
    private var layoutToAsk: String { named.isEmpty ? portals.layout ?? layout : layout }

    var question: FileQuestion { .layout(layoutToAsk) }

    /// The error, with the fields in ``FMRest/APIError/fields``, the portals in ``FMRest/APIError/portals`` and both in
    /// its reason.
    func explained(by answer: FileAnswer) -> FMRest.APIError {
        guard case .layout(let metadata) = answer else { return unexplained }
        let shown = metadata.fieldMetaData + metadata.portalMetaData.values.joined()
        let byName = Dictionary(shown.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        let fields = code == .fieldMissing ? missing(byName) : suspects(metadata, byName)
        var error = error
        error.portals = missingPortals(metadata, fields)
        if tells(fields) {
            error.fields = fields
            error.add(sentence(about: fields))
        } else if !fields.isEmpty {
            error.add("the layout's metadata do not tell which of \(fields.count) fields is meant.")
        }
        if code == .fieldMissing,
            let question = NearNames.question(about: fields, among: byName.values.map(\.name).sorted())
        {
            error.hint = question
        }
        if !error.portals.isEmpty { error.add(sentence(aboutPortals: error.portals, metadata)) }
        if code == .dateInvalid, isDateAsTimestamp(fields, byName) {
            error.hint =
                "A Date is written as a timestamp, which a date field refuses: declare FMDate, or @FMDateOnly var … : Date."
        }
        return error
    }

    /// The error with the portals that it can be about when no fields are named; this needs no metadata.
    var unexplained: FMRest.APIError {
        guard named.isEmpty, !portals.names.isEmpty else { return error }
        var error = error
        error.portals = portals.names
        error.add("the request asks for \(Self.list(portals.names, "portal")).")
        return error
    }

    /// The portals that are not on the layout. When another layout shapes the answer and the request names fields, that
    /// layout's metadata are not requested: all portals can then be at fault, unless a field explains the error.
    private func missingPortals(_ metadata: DataAPI.Layout.LayoutMetaData, _ missingFields: [String]) -> [String] {
        guard layoutToAsk == (portals.layout ?? layout) else { return missingFields.isEmpty ? portals.names : [] }
        let shown = Set(metadata.portalMetaData.keys.map { $0.lowercased() })
        // FileMaker Server 17 returns no portals in a layout's metadata.
        guard !shown.isEmpty || missingFields.isEmpty else { return [] }
        return portals.names.filter { !shown.contains($0.lowercased()) }
    }

    private func sentence(aboutPortals names: [String], _ metadata: DataAPI.Layout.LayoutMetaData) -> String {
        let list = Self.list(names, "portal")
        guard layoutToAsk == (portals.layout ?? layout) else {
            return "the layout \"\(portals.layout ?? layout)\" may lack \(list)."
        }
        let shown = metadata.portalMetaData.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
        return "\(list) \(names.count == 1 ? "is" : "are") not on layout \"\(layoutToAsk)\""
            + (shown.isEmpty ? "." : ", which has \(shown).")
    }

    private static func list(_ names: [String], _ noun: String) -> String {
        "\(names.count == 1 ? noun : noun + "s") " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    private func isDateAsTimestamp(_ fields: [String], _ shown: [String: Field]) -> Bool {
        named.contains { $0.isTimestamp && fields.contains($0.name) && Self.field($0.name, in: shown)?.result == .date }
    }

    private func sentence(about fields: [String]) -> String {
        let names = fields.map { "\"\($0)\"" }.joined(separator: ", ")
        if code == .fieldMissing { return "\(names) \(fields.count == 1 ? "is" : "are") not on layout \"\(layout)\"." }
        return fields.count == 1 ? "the field is \(names)." : "the field is one of \(names)."
    }

    private func missing(_ shown: [String: Field]) -> [String] {
        let absent = named.map(\.name).filter { Self.field($0, in: shown) == nil }
        if !absent.isEmpty { return absent }
        // Some hosts distinguish upper and lower case.
        let spelled = Set(shown.values.map(\.name))
        return named.map(\.name).filter { !spelled.contains($0) && !spelled.contains(DataAPIName.plain($0)) }
    }

    /// Whether naming these fields tells more than the request does. All fields that are missing or lack a value are at
    /// fault; with the other codes only one of the fields is.
    private func tells(_ fields: [String]) -> Bool {
        if code == .fieldMissing || code == .valueRequired { return !fields.isEmpty }
        return (1...Self.maximumSuspects).contains(fields.count)
    }

    private func suspects(_ shown: DataAPI.Layout.LayoutMetaData, _ byName: [String: Field]) -> [String] {
        guard code == .valueRequired else {
            return named.filter { Self.field($0.name, in: byName).map(canBeMeant) ?? true }.map(\.name)
        }
        // A required field is at fault when it was sent empty or, if it is one of the layout's own table, was not sent.
        let sent = Dictionary(
            named.map { (DataAPIName.plain($0.name).lowercased(), $0.isEmpty) },
            uniquingKeysWith: { $0 && $1 }
        )
        return byName.values.filter { field in
            let isOwn = !field.name.contains("::") && shown.fieldMetaData.contains(field)
            return field.notEmpty && (sent[field.name.lowercased()] ?? isOwn)
        }
        .map(\.name).sorted()
    }

    /// Whether the code fits a field's metadata. Fields without metadata count as possible.
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
        shown[name.lowercased()] ?? shown[DataAPIName.plain(name).lowercased()]
    }
}
