import Foundation

/// The body of a delivery: the result of an OData query over the rows of one operation.
///
/// Source: recorded deliveries; the Claris OData guide does not describe them.
struct WebhookDelivery: Decodable {
    private struct Row: Decodable {
        /// `nil` if it is unknown: a row addressed by the table's own key has no ROWID in its URL.
        var rowID: Int?

        init(from decoder: any Decoder) throws {
            let members = try LowercasedMembers(decoder)
            rowID = members.integer("rowid") ?? members.first("@odata.id", "@id", as: String.self).flatMap(Self.rowID)
        }

        /// Returns the 2 of `fmi/odata/v4/Harbor/Vessels(ROWID=2)`.
        private static func rowID(in url: String) -> Int? {
            guard url.last == ")", let opening = url.lastIndex(of: "(") else { return nil }
            let key = url[url.index(after: opening)...].dropLast()
            guard key.lowercased().hasPrefix("rowid=") else { return nil }
            return Int(key.dropFirst("rowid=".count))
        }
    }

    /// The part of the context after `#`: a table, and the fields in parentheses.
    private let fragment: Substring?
    /// The ids of all rows; `nil` when there are none, one is unknown, or one is -1, which stands for the whole table.
    let rowIDs: [Int]?

    init(from decoder: any Decoder) throws {
        let members = try LowercasedMembers(decoder)
        let context = members.first("@odata.context", "@context") ?? ""
        fragment = context.firstIndex(of: "#").map { context[context.index(after: $0)...] }
        let rows = members.first("value", as: [Row].self) ?? []
        let ids = rows.compactMap(\.rowID).filter { $0 > 0 }
        rowIDs = rows.isEmpty || ids.count < rows.count ? nil : Set(ids).sorted()
    }

    /// The table that the context names.
    var table: String? {
        guard let name = fragment?.prefix(while: { $0 != "(" }), !name.isEmpty else { return nil }
        return name.removingPercentEncoding ?? String(name)
    }

    /// Whether the context names this table; the table's name may itself have parentheses.
    func isAbout(_ name: String?) -> Bool {
        guard let name = name?.lowercased(), let fragment = fragment?.lowercased() else { return false }
        for text in [fragment, fragment.removingPercentEncoding ?? fragment] where text.hasPrefix(name) {
            let rest = text.dropFirst(name.count)
            if rest.isEmpty || rest.first == "(" || rest.first == "/" { return true }
        }
        return false
    }
}
