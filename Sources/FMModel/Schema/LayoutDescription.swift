/// The description of a layout by a host, from which a snapshot is made. It contains no host and no account.
package struct LayoutDescription: Equatable, Sendable {
    /// The layout's name in the file.
    package var name: String
    /// The table occurrence of its records; `nil` if the host does not report it.
    package var table: String?
    /// The fields, in the order of the layout's objects.
    package var fields: [FieldDescription]
    /// The portals, by their names in `portalData`.
    package var portals: [Portal]
    /// Names that several portals have. ``portals`` contains only one of them.
    package var ambiguousPortals: [String] = []
    /// The value lists of the fields.
    package var valueLists: [ValueList]

    package init(
        name: String,
        table: String? = nil,
        fields: [FieldDescription],
        portals: [Portal] = [],
        valueLists: [ValueList] = []
    ) {
        self.name = name
        self.table = table
        self.fields = fields
        self.portals = portals
        self.valueLists = valueLists
    }

    /// A portal and the fields of its rows.
    package struct Portal: Equatable, Sendable {
        package var name: String
        package var fields: [FieldDescription]

        package init(name: String, fields: [FieldDescription]) {
            self.name = name
            self.fields = fields
        }
    }

    /// A value list with its values.
    package struct ValueList: Equatable, Sendable {
        package var name: String
        /// Whether the values are fixed. Those of other lists come from records.
        package var isCustom: Bool
        package var values: [String]

        package init(name: String, isCustom: Bool, values: [String]) {
            self.name = name
            self.isCustom = isCustom
            self.values = values
        }
    }
}
