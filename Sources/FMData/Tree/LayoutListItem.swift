extension DataAPI.Database {
    /// One entry of the list of layouts: a layout that can be used directly, or a folder of entries.
    ///
    /// Source: Claris Data API guide, "Get layout names".
    public indirect enum LayoutListItem: Hashable, Sendable {
        /// A layout.
        case layout(layout: DataAPI.Layout)
        /// A folder with its entries, in order.
        case folder(name: String, layouts: [LayoutListItem])

        /// The name of the layout or the folder.
        public var name: String {
            switch self {
            case .layout(let layout): layout.name
            case .folder(let name, _): name
            }
        }

        /// The layouts of the entry, at any depth, in order.
        public var allLayouts: [DataAPI.Layout] {
            switch self {
            case .layout(let layout): [layout]
            case .folder(_, let layouts): layouts.flatMap(\.allLayouts)
            }
        }
    }
}

extension DataAPI.Database.LayoutListItem: Comparable {
    /// Compares names, of folders and layouts alike.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.name < rhs.name }
}

extension LayoutListBody.Entry {
    func item(in database: DataAPI.Database) -> DataAPI.Database.LayoutListItem {
        if let folderLayoutNames {
            .folder(name: name, layouts: folderLayoutNames.map { $0.item(in: database) })
        } else {
            // One recorded server sends "" as the table of every layout.
            .layout(layout: .init(name: name, database: database, table: table == "" ? nil : table))
        }
    }
}
