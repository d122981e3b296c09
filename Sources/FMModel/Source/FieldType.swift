/// The Swift type of a field: the default, which preserves every value, or the type that the user has set with `as`.
///
/// The host guarantees nothing. A field that must not be empty may be empty, because validation checks entries only. So
/// types whose values can be empty are optional, except for texts, where FileMaker's empty value is `""`.
struct FieldType: Equatable {
    /// The kind of one value.
    enum Value: Equatable {
        case text, number, date, time, timestamp, container
        /// A type that this version does not know.
        case anything
        /// One value of a value list.
        case choice(String)
        /// Several values of a value list.
        case choices(String)
        case reading(LayoutSnapshot.Reading)
    }

    let value: Value
    let isRepeated: Bool
    /// Whether the layout does not show the first repetitions.
    let hasGaps: Bool

    /// - Parameter lists: The names of the types of value lists, for lists that have one.
    init(_ field: LayoutSnapshot.Field, lists: [SchemaName: String]) {
        let facts = field.description
        value = field.reading.map(Value.reading) ?? Self.value(of: facts, lists)
        isRepeated = facts.isRepeated
        hasGaps = facts.shown.lowerBound > 1
    }

    private static func value(of field: FieldDescription, _ lists: [SchemaName: String]) -> Value {
        switch field.result {
        case "text":
            guard field.isChosen, let name = field.valueList else { return .text }
            let list = lists[SchemaName(name)]
            // The values of a list without a type are texts.
            return field.isListed ? .choices(list ?? "String") : list.map(Value.choice) ?? .text
        case "number": return field.isListed ? .choices("FMNumber") : .number
        case "date": return field.isListed ? .choices("FMDate") : .date
        case "time": return field.isListed ? .choices("FMTime") : .time
        case "timeStamp": return field.isListed ? .choices("FMTimestamp") : .timestamp
        case "container": return .container
        default: return .anything
        }
    }

    /// The type of one value that is not empty.
    var element: String {
        switch value {
        case .text: "String"
        case .number: "FMNumber"
        case .date: "FMDate"
        case .time: "FMTime"
        case .timestamp: "FMTimestamp"
        case .container: "DataAPI.ContainerReference"
        case .anything: "FieldValue"
        case .choice(let list): list
        case .choices(let list): "FMList<\(list)>"
        case .reading(let reading): reading.rawValue
        }
    }

    /// Whether an empty field is `nil`.
    var isOptional: Bool {
        switch value {
        case .text, .container, .anything, .choices, .reading(.string): false
        case .number, .date, .time, .timestamp, .choice, .reading: true
        }
    }

    private var single: String { element + (isOptional ? "?" : "") }

    /// The type of the property of a record.
    var property: String {
        guard isRepeated else { return single }
        return "[\(element)\(isOptional || hasGaps ? "?" : "")]"
    }

    /// The method of `FieldRow` that reads the property.
    var reader: String {
        if isRepeated { return "value" }
        return switch value {
        case .text, .reading(.string): "text"
        case .number: "numberIfAny"
        case .date: "dateIfAny"
        case .time: "timeIfAny"
        case .timestamp: "timestampIfAny"
        case .container: "container"
        case .reading(.int): "integerIfAny"
        case .reading(.double): "doubleIfAny"
        case .reading(.bool): "boolIfAny"
        case .choice, .reading(.decimal): "valueIfAny"
        case .anything, .choices: "value"
        }
    }

    /// The property's default value.
    var emptyProperty: String {
        if isRepeated { return "[]" }
        if isOptional { return "nil" }
        switch value {
        case .container, .anything: return ".empty"
        case .choices: return "[]"
        default: return "\"\""
        }
    }

    /// The type of the property in the changes to write. `nil` does not change the field.
    var change: String { isRepeated ? "[Int: \(single)]" : "\(single)?" }

    /// The value that does not change the field.
    var noChange: String { isRepeated ? "[:]" : "nil" }

    /// Whether the generated code needs Foundation.
    var needsFoundation: Bool { value == .reading(.decimal) }

    /// An expression for a value as text, which setting a global field needs; `nil` if there is none.
    ///
    /// - Parameter value: An expression for the value. It is optional if ``isOptional`` is true.
    func globalText(of value: String) -> String? {
        let chain = isOptional ? "\(value)?" : value
        let text: String
        switch self.value {
        case .text, .reading(.string): text = value
        case .number: text = "\(chain).literal"
        case .date, .time, .timestamp: text = "\(chain).text(.us)"
        case .choice: text = "\(chain).rawValue"
        case .choices("FMNumber"): text = "\(value).map(\\.literal).joined(separator: \"\\r\")"
        case .choices("FMDate"), .choices("FMTime"), .choices("FMTimestamp"):
            text = "\(value).map { $0.text(.us) }.joined(separator: \"\\r\")"
        case .choices("String"): text = "\(value).joined(separator: \"\\r\")"
        case .choices: text = "\(value).map(\\.rawValue).joined(separator: \"\\r\")"
        case .anything: text = "\(value).text"
        case .reading(.bool): text = "\(value).map { $0 ? \"1\" : \"0\" }"
        case .reading: text = "\(chain).description"
        case .container: return nil
        }
        return isOptional ? "\(text) ?? \"\"" : text
    }
}

extension FieldDescription {
    /// Whether the field has the values of checkboxes, one per line.
    fileprivate var isListed: Bool { isChosen && isCheckBox }
}
