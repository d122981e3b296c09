/// The list as the server sends it, before its layouts are connected to their database.
struct LayoutListBody: Decodable {
    struct Entry: Decodable {
        var name: String
        var table: String?
        var folderLayoutNames: [Entry]?

        fileprivate var names: [String] { folderLayoutNames?.flatMap(\.names) ?? (name == "-" ? [] : [name]) }
    }

    var layouts: [Entry]

    /// The names of the layouts at any depth, in order, without the separator lines of a menu.
    var names: [String] { layouts.flatMap(\.names) }
}

extension LayoutListBody: DataAPIResponse {}
