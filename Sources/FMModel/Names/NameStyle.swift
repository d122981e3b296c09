/// How names of one kind are written, and what may not be taken.
struct NameStyle {
    /// The first letter of an identifier.
    enum Case { case lower, upper }

    var letterCase: Case
    /// What a name without any letter or digit becomes, with its position behind it: `field7`.
    var fallback: String
    /// What a name is given that would otherwise be a reserved one: `typeField`.
    var suffix: String
    /// Names that mean something else where these are declared.
    var reserved: Set<String>
    /// Whether a name may begin with a table occurrence.
    var isQualified = false
    /// Whether it is part of the Swift name, instead of being left out where that is possible.
    var showsTable = false
    /// What may be left out at the beginning of a name.
    var prefixes: [String] = []
    /// Whether `Order` and `ORDER` are one name: types have files, and not every disk tells them apart.
    var ignoresCase = false
    /// Whether a name in the plural becomes one in the singular, where that is free: `Orders` is the layout of each `Order`.
    var isSingular = false

    /// Properties of a record, and the cases of its keys: a field of another table shows that it is one.
    static func fields(_ prefixes: [String], reserved: Set<String> = []) -> NameStyle {
        var style = rowFields(prefixes)
        style.reserved = style.reserved.subtracting(rowIds).union(reserved)
        style.showsTable = true
        return style
    }

    /// Properties of a row, and the cases of its keys.
    static func rowFields(_ prefixes: [String]) -> NameStyle {
        NameStyle(
            letterCase: .lower,
            fallback: "field",
            suffix: "Field",
            reserved: rowIds.union(ownTypes).union(metatypes)
                .union(["init", "self", "allCases", "hashValue", "globalFields"]),
            isQualified: true,
            prefixes: prefixes
        )
    }

    /// What a row has besides its fields, in Swift and in answers.
    static let rowIds: Set<String> = ["recordId", "modId"]

    /// Properties of portals.
    static let portals = NameStyle(
        letterCase: .lower,
        fallback: "portal",
        suffix: "Portal",
        reserved: metatypes.union(["init", "self", "hashValue"])
    )

    /// Static members of a value list. An optional of a list has `none` and `some` of its own.
    static let values = NameStyle(
        letterCase: .lower,
        fallback: "value",
        suffix: "Value",
        reserved: metatypes.union(["init", "self", "none", "some", "listed"])
    )

    /// Types of records.
    static let layouts = NameStyle(
        letterCase: .upper,
        fallback: "Layout",
        suffix: "Record",
        reserved: commonTypes,
        ignoresCase: true,
        isSingular: true
    )

    /// Types of value lists, within that of a record.
    static func lists(_ reserved: Set<String>) -> NameStyle {
        NameStyle(
            letterCase: .upper,
            fallback: "List",
            suffix: "Values",
            reserved: reserved.union(commonTypes).union(ownTypes)
        )
    }

    /// Types of rows, within that of a record.
    static func rows(_ reserved: Set<String>) -> NameStyle {
        NameStyle(
            letterCase: .upper,
            fallback: "Portal",
            suffix: "Rows",
            reserved: reserved.union(commonTypes).union(ownTypes)
        )
    }

    /// What stands for a type behind a point, with backticks too.
    private static let metatypes: Set<String> = ["Type", "Protocol", "Self"]

    /// What is declared within the type of a record.
    private static let ownTypes: Set<String> = ["CodingKeys", "Portals", "Changes", "Globals", "Record"]

    /// What the generated text mentions, the compiler keeps for itself, or everybody expects to mean what it always does.
    private static let commonTypes: Set<String> = [
        "Type", "Protocol", "Self", "Any", "AnyObject", "String", "Int", "Double", "Bool", "Float", "Character",
        "Optional", "Array", "Dictionary", "Set", "Result", "Error", "Never", "Void", "Task", "Decimal", "Date",
        "Data", "URL", "UUID", "Codable", "Encodable", "Decodable", "Encoder", "Decoder", "CodingKey", "CaseIterable",
        "Hashable", "Equatable", "Identifiable", "Sendable", "RawRepresentable", "FMData", "DataAPI", "FMRest",
        "FMNumber", "FMDate", "FMTime", "FMTimestamp", "FMList", "FMListedValue", "FieldValue", "FieldData", "FieldRow",
        "LayoutRecord", "LayoutKey", "RecordFields", "RecordChanges", "DataAPIPortalRecord", "Credentials", "Swift",
        "Foundation",
    ]
}
