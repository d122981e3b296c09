/// The fields of portals by the portals' names, and the ambiguous names. Those are equal names, which a `Decoder` does
/// not report, and names that differ in their Unicode form only, which are one key in a dictionary.
struct PortalFields: Decodable {
    private(set) var fields: [String: [DataAPI.Layout.LayoutMetaData.FieldMetaData]] = [:]
    /// Each name once, in order. With other decoders than the library's, equal names are missing.
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

    /// The names as they are in the text, including repeated ones; `nil` for other decoders.
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
