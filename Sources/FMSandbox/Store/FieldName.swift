/// A field name as in requests: `Name`, `Name(2)`, `Occurrence::Name(2)`, `Occurrence::Name.17`.
struct FieldName: Equatable {
    var occurrence: String?
    var field: String
    var repetition: Int?
    /// The id of the related record, after a period (an older notation); 0 creates a new one.
    var recordId: Int?

    init(_ text: String) {
        var rest = text[...]
        if let separator = text.firstRange(of: "::") {
            occurrence = String(text[..<separator.lowerBound])
            rest = text[separator.upperBound...]
            if let dot = rest.lastIndex(of: "."), let recordId = Int(rest[rest.index(after: dot)...]), recordId >= 0 {
                self.recordId = recordId
                rest = rest[..<dot]
            }
        }
        if rest.last == ")", let open = rest.lastIndex(of: "("),
            let repetition = Int(rest[rest.index(after: open)...].dropLast())
        {
            self.repetition = repetition
            rest = rest[..<open]
        }
        field = String(rest)
    }

    /// The name without repetition and record id.
    var qualified: String { occurrence.map { "\($0)::\(field)" } ?? field }
}
