/// A field as a property of the generated types.
struct Property {
    let facts: FieldDescription
    let type: FieldType
    /// The name as it is declared, with backticks if needed.
    let name: String
    /// Whether it belongs to another table than the record or the row.
    private let isRelated: Bool
    /// Whether it can be set. A property of another table can be set only if the user has chosen that.
    let isWritable: Bool

    /// - Parameter rowTable: The table of a portal's rows, where all names begin with a table; `nil` in a record.
    init(_ field: LayoutSnapshot.Field, rowTable: SchemaName? = nil, lists: [SchemaName: String]) {
        facts = field.description
        isRelated = facts.table != nil && facts.table != rowTable
        isWritable = facts.isWritable && (!isRelated || field.isWritten)
        type = FieldType(field, lists: lists)
        name = SwiftIdentifier.source(field.swift)
    }

    var key: Literal { Literal(facts.name) }

    /// Whether the field is written by its name alone. If the layout does not show the first repetition, the number is
    /// necessary, because the name alone would mean the first one.
    var isWrittenByName: Bool { facts.shown.lowerBound == 1 }

    /// An expression for the key of a repetition. `number` is inserted into a string literal and may be an
    /// interpolation.
    func key(ofRepetition number: String) -> String {
        "FieldData.CodingKeys(stringValue: \(key.description.dropLast())(\(number))\")"
    }

    /// A description of the field in FileMaker's terms.
    var summary: String {
        var words = ["\(key): \(Self.words(for: facts.result))"]
        switch facts.kind {
        case "normal": break
        case "calculation", "summary": words[0] += " (\(facts.kind))"
        default: words[0] += " (\(Literal(facts.kind)))"
        }
        if facts.isGlobal { words.append("global") }
        if isRelated, isWritable { words.append("written into the other table") }
        if facts.repetitions > 1 || facts.shown != 1...1 { words.append(repetitions) }
        if let list = facts.valueList { words.append("value list \(Literal(list))\(control)") }
        if facts.isAutoEntered { words.append("entered by FileMaker") }
        if facts.isNotEmpty { words.append("must not be empty") }
        if facts.isNumeric { words.append("must be a number") }
        if facts.needsFourDigitYear { words.append("must have a year of four digits") }
        if facts.isTimeOfDay { words.append("must lie within a day") }
        if let count = facts.maxCharacters { words.append("\(count) characters at most") }
        return words.joined(separator: ", ") + "."
    }

    private static func words(for result: String) -> String {
        switch result {
        case "text", "number", "date", "time", "container": result
        case "timeStamp": "timestamp"
        default: Literal(result).description
        }
    }

    private var control: String { facts.isChosen && facts.isCheckBox ? " as check boxes" : "" }

    private var repetitions: String {
        let (first, last) = (facts.shown.lowerBound, facts.shown.upperBound)
        // A host may report fewer repetitions than the layout shows.
        let count = max(facts.repetitions, last)
        if first == last { return "repetition \(first) of \(count)" }
        if facts.shown == 1...count { return "\(count) repetitions" }
        let gap = first > 1 ? ", the first at index \(first - 1)" : ""
        return "repetitions \(first) to \(last) of \(count)\(gap)"
    }

    /// A description of the field in the changes to write.
    var changeSummary: String {
        guard type.isRepeated else { return "\(key)." }
        return
            "\(key), by the numbers of repetitions, \(facts.shown.lowerBound) to \(facts.shown.upperBound) on the layout."
    }
}
