/// How names of one kind become identifiers, and which identifiers are reserved.
struct NameStyle {
    /// The case of an identifier's first letter.
    enum Case { case lower, upper }

    var letterCase: Case
    /// The identifier of a name without any letter or digit, followed by its position: `field7`.
    var fallback: String
    /// A suffix for identifiers that are reserved: `typeField`.
    var suffix: String
    /// Identifiers that have another meaning where these are declared.
    var reserved: Set<String>
    /// Whether a name may begin with a table occurrence.
    var isQualified = false
    /// Whether the table occurrence is always part of the identifier, and not only where names would be equal
    /// otherwise.
    var showsTable = false
    /// The table occurrence of which that does not hold.
    var ownTable: SchemaName?
    /// Prefixes that may be left out of a name.
    var prefixes: [String] = []
    /// Whether `Order` and `ORDER` are the same identifier. Types have files, and some disks ignore case.
    var ignoresCase = false
    /// Whether a plural becomes a singular if that is free: the records of the layout `Orders` are of type `Order`.
    var isSingular = false

    /// Properties of a record, and the cases of its keys. Fields of other tables have their table in the identifier.
    static func fields(_ prefixes: [String], reserved: Set<String> = []) -> NameStyle {
        var style = rowFields(prefixes)
        style.reserved = style.reserved.subtracting(rowIds).union(reserved)
        style.showsTable = true
        return style
    }

    /// Properties of a row, and the cases of its keys. Fields of other tables have their table in the identifier.
    static func rowFields(_ prefixes: [String], of table: SchemaName? = nil) -> NameStyle {
        NameStyle(
            letterCase: .lower,
            fallback: "field",
            suffix: "Field",
            reserved: rowIds.union(ownTypes).union(metatypes)
                .union(["init", "self", "allCases", "hashValue", "globalFields"]),
            isQualified: true,
            showsTable: table != nil,
            ownTable: table,
            prefixes: prefixes
        )
    }

    /// Members of a row other than its fields, in Swift and in answers.
    static let rowIds: Set<String> = ["recordId", "modId"]

    /// Properties of portals.
    static let portals = NameStyle(
        letterCase: .lower,
        fallback: "portal",
        suffix: "Portal",
        reserved: metatypes.union(["init", "self", "hashValue"])
    )

    /// Static members of a value list. An optional value list has its own `none` and `some`.
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

    /// Types of value lists, nested in the type of a record.
    static func lists(_ reserved: Set<String>) -> NameStyle {
        NameStyle(
            letterCase: .upper,
            fallback: "List",
            suffix: "Values",
            reserved: reserved.union(commonTypes).union(ownTypes)
        )
    }

    /// Types of rows, nested in the type of a record.
    static func rows(_ reserved: Set<String>) -> NameStyle {
        NameStyle(
            letterCase: .upper,
            fallback: "Portal",
            suffix: "Rows",
            reserved: reserved.union(commonTypes).union(ownTypes)
        )
    }

    /// Names that denote a metatype or type after a period, even in backticks.
    private static let metatypes: Set<String> = ["Type", "Protocol", "Self"]

    /// Names that are declared in the type of a record.
    private static let ownTypes: Set<String> = ["CodingKeys", "Portals", "Changes", "Globals", "Record"]

    /// Names that the generated code uses, that the compiler reserves, or that are expected to have their usual
    /// meaning.
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
