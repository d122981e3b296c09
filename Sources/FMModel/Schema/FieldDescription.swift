/// A field as a layout shows it.
package struct FieldDescription: Equatable, Sendable {
    /// The name, with its table occurrence if it is not one of the layout's own.
    package var name: String
    /// `normal`, `calculation`, `summary`, or what a future host says.
    package var kind = "normal"
    /// The type of the values: `text`, `number`, `date`, `time`, `timeStamp`, `container`, or what a future host says.
    package var result = "text"
    /// The control that shows it; `nil` for a text box, and where the host does not say.
    package var display: String?
    /// The value list of the control.
    package var valueList: String?
    /// Whether one value is shared by all records of a session.
    package var isGlobal = false
    /// Whether FileMaker enters a value by itself.
    package var isAutoEntered = false
    /// Whether an empty value fails validation.
    package var isNotEmpty = false
    /// Whether a value that is no number fails validation.
    package var isNumeric = false
    /// Whether a date needs a year of four digits.
    package var needsFourDigitYear = false
    /// Whether a time must lie within a day.
    package var isTimeOfDay = false
    /// The most characters a value may have; `nil` is no limit.
    package var maxCharacters: Int?
    /// How many repetitions the field has.
    package var repetitions = 1
    /// Those of them that the layout shows.
    package var shown = 1...1

    package init(_ name: String) { self.name = name }

    /// The part behind the table occurrence.
    var ownName: Substring { name.firstRange(of: "::").map { name[$0.upperBound...] } ?? name[...] }

    /// Whether its name begins with a table occurrence: it is a field of a portal, or of another table than the
    /// layout's.
    var isQualified: Bool { name.contains("::") }

    /// Whether a record shows more than one value of it, as a list of its own.
    var isRepeated: Bool { shown.count > 1 }

    /// Whether the host takes a value for it in a record.
    ///
    /// Containers are uploaded to, globals have a call of their own, and a member of this one name is an instruction to the
    /// server.
    var isWritable: Bool {
        kind == "normal" && !isGlobal && result != "container" && name != "deleteRelated"
    }

    /// Whether the control offers the values of its list and nothing hides how many of them may be chosen.
    var isChosen: Bool {
        guard valueList != nil, let display else { return false }
        return ["popupList", "popupMenu", "checkBox", "radioButtons", "selectionList"].contains(display)
    }

    /// Whether several values of the list may be chosen.
    var isCheckBox: Bool { display == "checkBox" }
}
