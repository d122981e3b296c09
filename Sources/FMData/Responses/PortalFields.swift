/// The fields of portals by the portals' names, and the names of which there are several: equal ones, which no `Decoder` tells, and
/// those that differ in their form in Unicode alone, for which a dictionary has one place.
struct PortalFields: Decodable {
    private(set) var fields: [String: [DataAPI.Layout.LayoutMetaData.FieldMetaData]] = [:]
    /// Each once, in their order. Where another decoder than the library's reads, equal names are not among them.
    private(set) var ambiguous: [String] = []

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldData.CodingKeys.self)
        for name in Self.names(in: decoder) ?? container.allKeys.map(\.stringValue) {
            guard fields[name] == nil else {
                if !ambiguous.contains(name) { ambiguous.append(name) }
                continue
            }
            fields[name] = try container.decode(
                [DataAPI.Layout.LayoutMetaData.FieldMetaData].self,
                forKey: FieldData.CodingKeys(stringValue: name)
            )
        }
    }

    /// The names as they are written, repeated ones included.
    private static func names(in decoder: any Decoder) -> [String]? {
        guard let decoder = decoder as? ValueDecoder, decoder.context.entry(decoder.node).kind == .object else {
            return nil
        }
        let tape = decoder.context.view
        var names: [String] = []
        var index = decoder.node + 1
        while index < tape[decoder.node].link {
            names.append(tape.string(tape[index]))
            index = tape.end(of: index + 1)
        }
        return names
    }
}
