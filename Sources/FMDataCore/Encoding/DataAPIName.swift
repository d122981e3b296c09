/// The names in records and requests that are more, or other, than the name of a field on the layout.
package enum DataAPIName {
    /// Whether a row's member is one of its ids instead of a field.
    package static func isIdentity(_ name: String) -> Bool { name == "recordId" || name == "modId" }

    /// Whether a member of `fieldData` is an instruction to the server instead of a field.
    package static func isInstruction(_ name: String) -> Bool { name == "deleteRelated" }

    /// The name without its repetition and without the older form of a related record's id: `Lines::Price(2).17`.
    package static func plain(_ name: String) -> String {
        var plain = name[...]
        if let dot = plain.lastIndex(of: "."), plain[plain.index(after: dot)...].isDigits { plain = plain[..<dot] }
        if plain.hasSuffix(")"), let open = plain.lastIndex(of: "("),
            plain[plain.index(after: open)...].dropLast().isDigits
        {
            plain = plain[..<open]
        }
        return String(plain)
    }
}

extension Substring {
    fileprivate var isDigits: Bool {
        !isEmpty && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
