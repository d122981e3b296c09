/// A field on a layout.
package struct FieldDescription: Equatable, Sendable {
    /// The name, with its table occurrence if the field does not belong to the layout's own.
    package var name: String
    /// `normal`, `calculation`, `summary`, or a value of a future host.
    package var kind = "normal"
    /// The type of the values: `text`, `number`, `date`, `time`, `timeStamp`, `container`, or a value of a future host.
    package var result = "text"
    /// The control style; `nil` for a text box or if the host does not report it.
    package var display: String?
    /// The value list of the control.
    package var valueList: String?
    /// Whether all records share one value in a session.
    package var isGlobal = false
    /// Whether FileMaker enters a value automatically.
    package var isAutoEntered = false
    /// Whether an empty value fails validation.
    package var isNotEmpty = false
    /// Whether a value that is not a number fails validation.
    package var isNumeric = false
    /// Whether a date needs a year of four digits.
    package var needsFourDigitYear = false
    /// Whether a time must be less than a day.
    package var isTimeOfDay = false
    /// The maximum length of a value in characters; `nil` if there is no limit.
    package var maxCharacters: Int?
    /// The number of repetitions of the field.
    package var repetitions = 1
    /// The repetitions that the layout shows.
    package var shown = 1...1

    package init(_ name: String) { self.name = name }

    /// The part of the name after the table occurrence.
    var ownName: Substring { name.firstRange(of: "::").map { name[$0.upperBound...] } ?? name[...] }

    /// The table occurrence that the name begins with. It does for fields of portals and of tables other than the
    /// layout's.
    var table: SchemaName? { name.firstRange(of: "::").map { SchemaName(String(name[..<$0.lowerBound])) } }

    /// Whether a record has several values of the field, as an array.
    var isRepeated: Bool { shown.count > 1 }

    /// Whether the host accepts a value for the field in a record.
    ///
    /// It does not for containers, which need an upload, for globals, which have their own call, and for the name
    /// `deleteRelated`, which is an instruction to the server.
    var isWritable: Bool {
        kind == "normal" && !isGlobal && result != "container" && name != "deleteRelated"
    }

    /// Whether the control offers the values of its value list, and its style tells whether several may be chosen.
    var isChosen: Bool {
        guard valueList != nil, let display else { return false }
        return ["popupList", "popupMenu", "checkBox", "radioButtons", "selectionList"].contains(display)
    }

    /// Whether several values of the list may be chosen.
    var isCheckBox: Bool { display == "checkBox" }
}

extension Sequence<FieldDescription> {
    /// The table occurrence of the rows of a portal with these fields, which a host does not report. The portal's name
    /// tells it; if the portal has a name of its own, most of its fields do, and the first of two that have as many.
    func rowTable(ofPortal name: String) -> SchemaName? {
        let tables = compactMap(\.table)
        if tables.contains(SchemaName(name)) { return SchemaName(name) }
        let counts = Dictionary(tables.map { ($0, 1) }, uniquingKeysWith: +)
        return tables.max { counts[$0, default: 0] < counts[$1, default: 0] }
    }
}
