/// The portals that an answer shows, and their rows.
struct PortalSelection: Sendable {
    struct Item: Sendable {
        var portal: PortalModel
        var offset: Int
        var limit: Int
    }

    static let defaultLimit = 50

    var items: [Item]

    /// Selects all portals of the layout in its order, or those named in `portal`. Each has at most `limit.<name>` rows
    /// (default 50), beginning with row `offset.<name>` (default 1).
    init(on layout: LayoutModel, names: JSONValue?, _ context: Context) throws {
        var wanted: [String]?
        if let names {
            guard let elements = names.array else { throw FileMakerError(1708) }
            wanted = try elements.map { element in
                guard let name = element.string else { throw FileMakerError(1708) }
                guard let portal = layout.portal(named: name) else { throw FileMakerError(102) }
                return portal.key
            }
        }
        func count(_ key: String, _ portal: PortalModel) throws -> Int? {
            let ignoresCase = context.engine.traits.ignoresNameCase
            return try context.call.portalCount(key, of: portal.key, ignoresCase: ignoresCase)
        }
        items = try layout.portals.filter { wanted?.contains($0.key) ?? true }.map { portal in
            Item(
                portal: portal,
                offset: try count("offset", portal) ?? 1,
                limit: try count("limit", portal) ?? Self.defaultLimit
            )
        }
    }
}
