/// A layout in the snapshot: the host's description, and the Swift names.
///
/// A user may change the names, set with `as` how a field is read, and with `write` that a field of another table is
/// written. These changes are kept when the snapshot is fetched again.
package struct LayoutSnapshot: Equatable, Sendable {
    /// The layout's name in the file.
    package var layout: String
    /// The name of the record's type.
    package var swift: String
    /// The table occurrence of its records.
    package var table: String?
    package var fields: [Field]
    package var portals: [Portal]
    /// The value lists that become types. Other lists may contain customers' values, which are not stored.
    package var valueLists: [ValueList]

    /// A field with the name of its property.
    package struct Field: Equatable, Sendable {
        package var description: FieldDescription
        package var swift: String
        /// The Swift type that the user has chosen for it.
        package var reading: Reading?
        /// Whether the user wants to write to this field of another table.
        package var isWritten = false
    }

    /// A portal with the name of its property and of the type of its rows.
    package struct Portal: Equatable, Sendable {
        package var name: String
        package var swift: String
        package var swiftRow: String
        package var fields: [Field]
    }

    /// A value list with the names of its type and of its values.
    package struct ValueList: Equatable, Sendable {
        package var name: String
        package var swift: String
        package var values: [Value]
    }

    /// A value with the name of its constant.
    package struct Value: Equatable, Sendable {
        package var value: String
        package var swift: String
    }

    /// A Swift type for a field in place of the default, which preserves every value.
    package enum Reading: String, CaseIterable, Sendable {
        case int = "Int"
        case double = "Double"
        case decimal = "Decimal"
        case bool = "Bool"
        case string = "String"
    }
}
