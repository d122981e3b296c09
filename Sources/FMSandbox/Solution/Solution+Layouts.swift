extension Solution {
    /// An entry of the layout list: a layout or a folder.
    public enum LayoutItem: Codable, Sendable {
        /// A layout.
        case layout(Layout)
        /// A folder of layouts and folders.
        indirect case folder(String, [LayoutItem])

        /// Decodes an entry. A folder has the keys `folder` and `items`; everything else is a layout.
        public init(from decoder: any Decoder) throws {
            if let folder = try FolderKeys.name(in: decoder) {
                let container = try decoder.strictContainer(keyedBy: FolderKeys.self)
                self = .folder(folder, try container.decode([LayoutItem].self, forKey: .items, default: []))
            } else {
                self = .layout(try Layout(from: decoder))
            }
        }

        /// Writes the format that ``init(from:)`` reads.
        public func encode(to encoder: any Encoder) throws {
            switch self {
            case .layout(let layout): try layout.encode(to: encoder)
            case .folder(let name, let items):
                var container = encoder.container(keyedBy: FolderKeys.self)
                try container.encode(name, forKey: .folder)
                try container.encode(items, forKey: .items)
            }
        }

        var layouts: [Layout] {
            switch self {
            case .layout(let layout): [layout]
            case .folder(_, let items): items.flatMap(\.layouts)
            }
        }
    }

    /// A layout. Clients can access records only through layouts.
    public struct Layout: Codable, Sendable {
        /// How the layout shows records. With `v1` it decides how many portal rows are sent.
        package enum View: String, Codable, Sendable, CaseIterable {
            /// One record at a time: all rows of a portal.
            case form
            /// A table of records: with `v1` only the first related row.
            case table
        }

        /// The name.
        public var name: String
        /// The table occurrence it is based on.
        public var table: String
        /// The fields on it, in order.
        public var fields: [LayoutField]
        /// The portals on it, in order.
        package var portals: [Portal]
        /// How it shows records. The default is ``View/form``.
        package var view: View

        /// Creates a layout of a table.
        public init(name: String, table: String, fields: [LayoutField] = []) {
            self.init(name: name, table: table, fields: fields, portals: [])
        }

        /// Creates a layout of a table occurrence.
        @_disfavoredOverload
        package init(
            name: String,
            table: String,
            fields: [LayoutField] = [],
            portals: [Portal] = [],
            view: View = .form
        ) {
            self.name = name
            self.table = table
            self.fields = fields
            self.portals = portals
            self.view = view
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case name, table, fields, portals, view }

        /// Reads the documented JSON form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            table = try container.decode(String.self, forKey: .table)
            fields = try container.decode([LayoutField].self, forKey: .fields, default: [])
            portals = try container.decode([Portal].self, forKey: .portals, default: [])
            view = try container.decodeChoiceIfPresent(View.self, forKey: .view) ?? .form
        }
    }

    /// A field on a layout.
    public struct LayoutField: Codable, Sendable, ExpressibleByStringLiteral {
        /// The control style of the field, as in the layout metadata.
        package enum Display: String, Codable, Sendable, CaseIterable {
            /// An edit box.
            case editText
            /// A drop-down list.
            case popupList
            /// A pop-up menu.
            case popupMenu
            /// Checkboxes.
            case checkBox
            /// Radio buttons.
            case radioButtons
            /// A selection list.
            case selectionList
            /// A drop-down calendar.
            case calendar
            /// A concealed edit box.
            case secureText
        }

        /// The field: unqualified if it is in the layout's own table occurrence, otherwise `Occurrence::Field`. An
        /// empty name stands for an object whose field was deleted; answers have an empty value without a name for it,
        /// as real ones do.
        public var field: String
        /// How it is shown. The default is ``Display/editText``.
        package var display: Display
        /// The name of the field's value list, if it has one.
        package var valueList: String?
        /// The first repetition shown. The default is 1.
        package var firstRepetition: Int
        /// The last repetition shown. If nil (the default), all are shown.
        package var lastRepetition: Int?

        /// Puts a field on a layout, as an edit box.
        public init(_ field: String) { self.init(field, display: .editText) }

        /// Creates a field on a layout.
        @_disfavoredOverload
        package init(
            _ field: String,
            display: Display = .editText,
            valueList: String? = nil,
            firstRepetition: Int = 1,
            lastRepetition: Int? = nil
        ) {
            self.field = field
            self.display = display
            self.valueList = valueList
            self.firstRepetition = firstRepetition
            self.lastRepetition = lastRepetition
        }

        /// An edit box for the field of that name.
        public init(stringLiteral value: String) { self.init(value) }

        enum CodingKeys: String, CodingKey, CaseIterable {
            case field, display, valueList, firstRepetition, lastRepetition
        }

        /// Reads the documented JSON form; a plain string is an edit box for the field of that name.
        public init(from decoder: any Decoder) throws {
            if let name = try? decoder.singleValueContainer().decode(String.self) {
                self.init(name)
                return
            }
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            self.init(
                try container.decode(String.self, forKey: .field),
                display: try container.decodeChoiceIfPresent(Display.self, forKey: .display) ?? .editText,
                valueList: try container.decodeIfPresent(String.self, forKey: .valueList),
                firstRepetition: try container.decode(Int.self, forKey: .firstRepetition, default: 1),
                lastRepetition: try container.decodeIfPresent(Int.self, forKey: .lastRepetition)
            )
        }
    }

    /// A portal on a layout: rows of a related table.
    package struct Portal: Codable, Sendable {
        /// The table occurrence whose records it shows.
        package var table: String
        /// The object name. If there is one, requests and answers name the portal by it.
        package var name: String?
        /// The fields of a row, each as `Occurrence::Field`.
        package var fields: [LayoutField]
        /// The first row it shows. The default is 1.
        package var firstRow: Int
        /// The number of rows that it shows without scrolling. If nil (the default), the portal scrolls and shows all
        /// rows.
        package var rowCount: Int?
        /// The sort order of its rows. The default is the relationship's.
        package var sort: [SortOrder]
        /// A formula that must be true for a row to be shown.
        package var filter: String?
        /// Whether rows may be deleted through the portal. The default is true.
        package var allowsDeletion: Bool

        /// Creates a portal for a table occurrence.
        package init(
            table: String,
            name: String? = nil,
            fields: [LayoutField],
            firstRow: Int = 1,
            rowCount: Int? = nil,
            sort: [SortOrder] = [],
            filter: String? = nil,
            allowsDeletion: Bool = true
        ) {
            self.table = table
            self.name = name
            self.fields = fields
            self.firstRow = firstRow
            self.rowCount = rowCount
            self.sort = sort
            self.filter = filter
            self.allowsDeletion = allowsDeletion
        }

        enum CodingKeys: String, CodingKey, CaseIterable {
            case table, name, fields, firstRow, rowCount, sort, filter, allowsDeletion
        }

        /// Reads the documented JSON form.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            table = try container.decode(String.self, forKey: .table)
            name = try container.decodeIfPresent(String.self, forKey: .name)
            fields = try container.decode([LayoutField].self, forKey: .fields)
            firstRow = try container.decode(Int.self, forKey: .firstRow, default: 1)
            rowCount = try container.decodeIfPresent(Int.self, forKey: .rowCount)
            sort = try container.decode([SortOrder].self, forKey: .sort, default: [])
            filter = try container.decodeIfPresent(String.self, forKey: .filter)
            allowsDeletion = try container.decode(Bool.self, forKey: .allowsDeletion, default: true)
        }
    }
}

/// The keys of a folder of layouts or scripts in a solution file.
enum FolderKeys: String, CodingKey, CaseIterable {
    case folder, items

    /// The folder's name; nil if the decoder's value is not a folder.
    static func name(in decoder: any Decoder) throws -> String? {
        try decoder.container(keyedBy: FolderKeys.self).decodeIfPresent(String.self, forKey: .folder)
    }
}
