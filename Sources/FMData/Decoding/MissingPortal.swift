/// A portal that an answer lacks, beside the portals that it has. Their names are those of the layout, and no values.
struct MissingPortal: Error, CustomStringConvertible {
    let name: String
    let present: [String]

    var description: String {
        let names = present.map { "\"\($0)\"" }.joined(separator: ", ")
        return "there is no portal \"\(name)\" here, but \(names); a portal that may be absent is declared optional"
    }
}

extension DecodingContext {
    /// The error for a portal that is not among those of an answer; `nil` when the answer has none at all.
    func missingPortal(_ key: some CodingKey, _ object: UInt32) -> DecodingError? {
        var names: [String] = []
        var index = object + 1
        while index < document[object].link {
            names.append(document.text(document[index]))
            index = document.tape.end(of: index + 1)
        }
        guard !names.isEmpty else { return nil }
        let missing = MissingPortal(name: key.stringValue, present: names)
        return .keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath(object),
                debugDescription: "\(missing)",
                underlyingError: missing
            )
        )
    }
}
