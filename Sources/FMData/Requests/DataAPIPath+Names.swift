extension DataAPIPath {
    /// The path with the names of database, layout, script and field, percent-encoded, and `{…}` for everything else:
    /// `/databases/Contacts/layouts/People/records/{recordId}`.
    var template: String {
        var text = ""
        for (index, segment) in segments.enumerated() {
            text += "/" + (placeholder(at: index) ?? segment.percentEncoded)
        }
        return text
    }

    private func placeholder(at index: Int) -> String? {
        guard segments[0] == "databases" else { return nil }
        return switch (index, segments[safe: 2], segments[safe: 4], segments[safe: 6]) {
        case (3, "sessions", _, _): "{token}"
        case (5, "layouts", "records", _): "{recordId}"
        case (8, "layouts", "records", "containers"): "{repetition}"
        default: nil
        }
    }

    /// "login" or "logout", if it is the path of one.
    var sessionCall: String? {
        guard segments[0] == "databases", segments[safe: 2] == "sessions" else { return nil }
        return segments.count == 3 ? "login" : "logout"
    }

    /// The database in `/databases/{database}/…`.
    var database: String? { segments[0] == "databases" ? segments[safe: 1] : nil }
}

extension [String] {
    fileprivate subscript(safe index: Int) -> String? { indices.contains(index) ? self[index] : nil }
}
