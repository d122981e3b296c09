public import OpenCombine

extension DataAPI.Database {
    /// The names of the layouts that the account may see, in the order of the file. Folders are left out, the layouts
    /// in them are not. The list with its folders is kept in ``layoutList``.
    ///
    ///     let names = try await database.layoutNames().firstValue()       // ["Contacts", "Countries", …]
    ///
    /// Apart from that it is ``getLayoutNames(isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func layoutNames(isolation: (any Actor)? = #isolation) -> AnyPublisher<[String], FMRest.APIError> {
        listLayouts().map(\.names).delivered(on: isolation, by: self)
    }

    /// The names of the scripts that the account may run, in the order of the file. Folders are left out, the scripts
    /// in them are not. The list with its folders is kept in ``scriptList``.
    ///
    /// Apart from that it is ``getScriptNames(isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func scriptNames(isolation: (any Actor)? = #isolation) -> AnyPublisher<[String], FMRest.APIError> {
        listScripts().map(\.names).delivered(on: isolation, by: self)
    }

    /// The layouts that the account may see, in their folders, ready to use. The list is also kept in ``layoutList``.
    /// ``layoutNames(isolation:)`` publishes the names alone.
    ///
    /// Source: Claris Data API guide, "Get layout names", `GET …/layouts`. FileMaker Server 18 and later.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func getLayoutNames(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<[LayoutListItem], FMRest.APIError> {
        listLayouts().map { $0.layouts.map { $0.item(in: self) } }.delivered(on: isolation, by: self)
    }

    /// The scripts of the file, in their folders. The list is also kept in ``scriptList``. ``scriptNames(isolation:)``
    /// publishes the names alone.
    ///
    /// Source: Claris Data API guide, "Get script names", `GET …/scripts`. FileMaker Server 18 and later.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func getScriptNames(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<[ScriptItem], FMRest.APIError> {
        listScripts().map(\.scripts).delivered(on: isolation, by: self)
    }

    private func listLayouts() -> AnyPublisher<LayoutListBody, FMRest.APIError> {
        asOneAccount { accountPeriod in
            self.callOptions { $0.accountPeriod = accountPeriod }.perform { .layoutNames(in: self.name) }
                .handleEvents(receiveOutput: { self.keep(layouts: $0.layouts, in: accountPeriod) })
                .eraseToAnyPublisher()
        }
    }

    private func listScripts() -> AnyPublisher<ScriptListBody, FMRest.APIError> {
        asOneAccount { accountPeriod in
            self.callOptions { $0.accountPeriod = accountPeriod }.perform { .scriptNames(in: self.name) }
                .handleEvents(receiveOutput: { self.keep(scripts: $0.scripts, in: accountPeriod) })
                .eraseToAnyPublisher()
        }
    }
}

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
