// Printing without secrets and values: whatever prints an error shows this and nothing else.

extension FMRest.APIError: CustomStringConvertible, CustomDebugStringConvertible {
    /// What it is, in a few words that hold no secret and no field value. A text of more than 2,000 bytes, as a server may send
    /// it, is cut; ``reason`` and ``messages`` have it whole.
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
    /// Long texts are cut as in ``description``. Of the error below only the type: the text of an error of somebody else's,
    /// and its mirror, may hold a value.
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
