/// A layout in the snapshot: what the host said of it, and the Swift names that were given.
///
/// A user may change the names, say by `as` how a field is read, and by `write` that one of another table is written;
/// all of it stays when the snapshot is fetched again.
package struct LayoutSnapshot: Equatable, Sendable {
    /// The layout's name in the file.
    package var layout: String
    /// The name of the record's type.
    package var swift: String
    /// The table occurrence whose records it shows.
    package var table: String?
    package var fields: [Field]
    package var portals: [Portal]
    /// The lists that become types. The values of others may be those of customers, and are not kept.
    package var valueLists: [ValueList]

    /// A field with the name of its property.
    package struct Field: Equatable, Sendable {
        package var description: FieldDescription
        package var swift: String
        /// How the user wants it to be read.
        package var reading: Reading?
        /// Whether the user wants a field of another table to be written.
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

    /// Another Swift type for a field than the one that keeps everything.
    package enum Reading: String, CaseIterable, Sendable {
        case int = "Int"
        case double = "Double"
        case decimal = "Decimal"
        case bool = "Bool"
        case string = "String"
    }
}
