/// The place in a record to which a path leads, if it leads into one.
struct DecodingPlace: Hashable, Sendable {
    /// The rules that apply there.
    var mode: DecodingContext.Mode
    /// The field, by its name on the wire.
    var field: String?
    /// The portal, by its name on the wire.
    var portal: String?
    /// The row of the portal, from 1.
    var row: Int?

    /// - Parameter root: the rules at the start of the path.
    init(_ path: [any CodingKey], root: DecodingContext.Mode) {
        mode = root
        if root == .fields {
            field = path.first?.name
        } else if let start = path.firstIndex(where: { $0.stringValue == "fieldData" }) {
            let inside = path[(start + 1)...]
            if !inside.isEmpty { mode = .fields }
            field = inside.first?.name
        } else if let start = path.firstIndex(where: { $0.stringValue == "portalData" }) {
            let inside = path[(start + 1)...]
            portal = inside.first?.name
            row = inside.dropFirst().first?.intValue.map { $0 + 1 }
            field = inside.dropFirst(2).first?.name
            if portal != nil { mode = row == nil ? .portals : .fields }
        }
    }

    /// Whether FileMaker's rules apply, as they do for the values of fields.
    var isField: Bool { mode == .fields }
}

extension CodingKey {
    /// The key, unless it is a position in a list.
    fileprivate var name: String? { intValue == nil ? stringValue : nil }
}
