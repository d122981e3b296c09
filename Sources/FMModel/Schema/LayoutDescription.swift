/// What a layout shows, as a host tells it: what a snapshot is made of. Nothing in it names a host or an account.
package struct LayoutDescription: Equatable, Sendable {
    /// The layout's name in the file.
    package var name: String
    /// The table occurrence whose records it shows; `nil` where the host does not say.
    package var table: String?
    /// The fields, in the order of the layout's objects.
    package var fields: [FieldDescription]
    /// The portals, each by the name that `portalData` has for it.
    package var portals: [Portal]
    /// The names that several portals have, of which ``portals`` holds one.
    package var ambiguousPortals: [String] = []
    /// The value lists that the fields use.
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
        /// Whether the values were typed in. Those of other lists are taken from records.
        package var isCustom: Bool
        package var values: [String]

        package init(name: String, isCustom: Bool, values: [String]) {
            self.name = name
            self.isCustom = isCustom
            self.values = values
        }
    }
}
