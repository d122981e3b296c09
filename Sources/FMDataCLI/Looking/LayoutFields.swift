import FMData
import FMSandbox

/// The fields that a layout shows, its portals and value lists: what a command knows before it asks for records.
struct LayoutFields: Sendable {
    typealias Field = DataAPI.Layout.LayoutMetaData.FieldMetaData

    /// The fields beside the portals, each once.
    let fields: [Field]
    /// The fields of each portal, by the names of the portals.
    let portals: [(name: String, fields: [Field])]
    private let byName: [String: Field]
    /// The values of each value list.
    private let values: [String: [String]]
    /// The value lists whose values do not come from records.
    private let customLists: Set<String>
    private let layout: String

    init(_ metadata: DataAPI.Layout.LayoutMetaData, of layout: String) {
        var byName: [String: Field] = [:]
        func isNew(_ field: Field) -> Bool {
            guard byName[field.name] == nil else { return false }
            byName[field.name] = field
            return true
        }
        fields = metadata.fieldMetaData.filter(isNew)
        portals = metadata.portalMetaData.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        for field in portals.flatMap(\.fields) { _ = isNew(field) }
        self.byName = byName
        let lists = (metadata.valueLists ?? []).map { ($0.name, $0.values.map(\.value)) }
        values = Dictionary(lists) { first, _ in first }
        customLists = Set((metadata.valueLists ?? []).filter { $0.type == "customList" }.map(\.name))
        self.layout = layout
    }

    /// The field that a name means, also one with the number of a repetition, `Phone(2)`; nil if there is none.
    func field(_ name: String) -> Field? {
        byName[name] ?? name.firstMatch(of: #/^(.+)\([0-9]+\)$/#).flatMap { byName[String($0.1)] }
    }

    /// The field that a name means; throws with the nearest name if there is none.
    func known(_ name: String) throws(CommandError) -> Field {
        guard let field = field(name) else { throw unknown("field", name, among: Array(byName.keys)) }
        return field
    }

    /// The portal of a name; throws with the nearest name if there is none.
    func knownPortal(_ name: String) throws(CommandError) -> String {
        let names = portals.map(\.name)
        guard names.contains(name) else { throw unknown("portal", name, among: names) }
        return name
    }

    private func unknown(_ what: String, _ name: String, among names: [String]) -> CommandError {
        let names = names.sorted()
        let advice =
            names.nearest(to: name).map { "Did you mean \"\($0)\"?" }
            ?? (names.isEmpty ? "It shows none." : "It shows: \(names.joined(separator: ", ")).")
        return CommandError("The layout \"\(layout)\" shows no \(what) \"\(name)\". \(advice)")
    }

    /// What to tell the user of a value that is not in the value list of its field, but nearly; nil for nothing.
    /// FileMaker may accept other values.
    func advice(on value: String, of field: Field) -> String? {
        guard let list = field.valueList, let values = values[list], !value.isEmpty, !values.contains(value),
            let nearest = values.nearest(to: value)
        else { return nil }
        return "\"\(value)\" is not in the value list \"\(list)\" of \(field.name). Did you mean \"\(nearest)\"?"
    }

    /// The value list of a field, and the part of a value that is not in it; nil if it is. A field with check boxes has
    /// several values, one in each line. Lists of values from records change with these, and are not looked at.
    func strange(_ value: String, of field: Field) -> (list: String, part: String)? {
        guard let list = field.valueList, customLists.contains(list), let known = values[list] else { return nil }
        return value.lines.first { !$0.isEmpty && !known.contains($0) }.map { (list, $0) }
    }

    /// The names of all fields, the longest first.
    var namesByLength: [String] { byName.keys.sorted { ($0.count, $0) > ($1.count, $1) } }
}

extension LayoutFields.Field {
    /// Whether FileMaker finds exactly the records behind a value of the field: it does for numbers, dates and times.
    /// Texts it compares word by word, and without case and accents.
    var hasExactOrder: Bool { [.number, .date, .time, .timeStamp].contains(result) }

    /// Why nobody can enter a value; nil if the field is none of those that FileMaker computes.
    var isComputed: String? {
        switch type {
        case .calculation: "is a calculation"
        case .summary: "is a summary"
        default: nil
        }
    }

    /// The repetitions that the layout shows; one if the field does not repeat.
    var shownRepetitions: ClosedRange<Int> {
        // A host may report anything.
        let first = min(max(1, repetitionStart ?? 1), 32_000)
        let last = min(repetitionEnd ?? first + (repetitions ?? maxRepeat) - 1, 32_000)
        return first...max(first, last)
    }

    /// The names of the field's values in an answer.
    var valueNames: [String] {
        let shown = shownRepetitions
        return shown.count == 1 ? [name] : shown.map { "\(name)(\($0))" }
    }
}

extension DataAPI.Layout {
    /// Reads what the layout shows; what fails in passing is asked again.
    func fields() async throws -> LayoutFields {
        LayoutFields(try await retrying().getLayoutMetadata().firstValue(), of: name)
    }
}
