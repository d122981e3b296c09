// Printing without secrets and values: all ways to print an error show only this.

extension FMRest.APIError: CustomStringConvertible, CustomDebugStringConvertible {
    /// A short text, without secrets and field values. Texts of more than 2,000 bytes, as a server may send them, are
    /// cut; ``reason`` and ``messages`` have the whole text.
    public var description: String {
        var text = "\(code)"
        if let fileMakerCode { text += " \(fileMakerCode.rawValue)" }
        text += ": \(reason.shortened)"
        if let httpStatus { text += " [HTTP \(httpStatus)]" }
        if let request { text += " (\(request))" }
        if outcomeIsUnknown { text += " The server may have carried out the request." }
        if let hint { text += " Hint: \(hint.shortened)" }
        return text
    }

    /// The same as `description`.
    public var debugDescription: String { description }
}

extension FMRest.APIError: CustomReflectable {
    /// The children that a dump shows. Long texts are cut as in ``description``. Of the underlying error only the type
    /// is shown: the text and the mirror of an error from elsewhere may hold a value.
    public var customMirror: Mirror {
        let children: [(String, Any?)] = [
            ("code", code), ("fileMakerCode", fileMakerCode), ("reason", reason.shortened),
            ("hint", hint?.shortened),
            ("fields", fields.isEmpty ? nil : fields), ("portals", portals.isEmpty ? nil : portals),
            ("layouts", layouts.isEmpty ? nil : layouts), ("scripts", scripts.isEmpty ? nil : scripts),
            ("scriptFailure", scriptFailure),
            ("messages", messages.isEmpty ? nil : messages), ("httpStatus", httpStatus),
            ("contentType", contentType?.shortened),
            ("request", request), ("outcomeIsUnknown", outcomeIsUnknown),
            ("retryAfter", retryAfter),
            ("underlying", underlying.map { "\(type(of: $0))" }),
        ]
        return Mirror(self, children: children.compactMap { name, value in value.map { (label: name, value: $0) } })
    }
}

extension String {
    /// The text as it is printed: cut when it is long, since a text from elsewhere may have any length.
    var shortened: String {
        // Counted by scalars, not by characters: one letter can have any number of accents.
        guard utf8.count > Self.printedBytes else { return self }
        var bytes = 0
        let start = unicodeScalars.prefix { scalar in
            bytes += String(scalar).utf8.count
            return bytes <= Self.printedBytes
        }
        return "\(String(start))… (\(utf8.count) bytes)"
    }

    /// The longest text that is printed whole, in bytes: longer than any sentence of this library or of FileMaker.
    private static var printedBytes: Int { 2000 }
}
