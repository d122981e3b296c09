/// The path of a request below `/fmi/data/v…`, as plain names. Each segment is percent-encoded on its own, so a layout
/// may be named "A/B", "50 %" or "Müller".
///
/// Source: Claris Data API guide, "URL and data format notes"; the grammar is in its endpoint pages.
struct DataAPIPath: Hashable, Sendable {
    /// The longest path and query, in bytes: the guide asks to keep URIs at or below 2,000 characters.
    static let longestTarget = 2_000

    private(set) var segments: [String]
    /// The argument of an OData function, in parentheses behind its name: `Webhook.Get(3)`.
    private(set) var argument: Int?

    init(_ segments: String...) {
        self.segments = segments
    }

    static func database(_ name: String) -> DataAPIPath {
        DataAPIPath("databases", name)
    }

    static func layout(_ layout: String, in database: String) -> DataAPIPath {
        DataAPIPath("databases", database, "layouts", layout)
    }

    static func records(of layout: String, in database: String) -> DataAPIPath {
        DataAPIPath("databases", database, "layouts", layout, "records")
    }

    static func record(_ id: Int, of layout: String, in database: String) -> DataAPIPath {
        DataAPIPath("databases", database, "layouts", layout, "records", String(id))
    }

    /// The layout in `/databases/{database}/layouts/{layout}/…`.
    var layout: String? {
        segments.count > 3 && segments[0] == "databases" && segments[2] == "layouts" ? segments[3] : nil
    }

    /// The record in `…/records/{id}/…`.
    var recordId: Int? { layout != nil && segments.count > 5 && segments[4] == "records" ? Int(segments[5]) : nil }

    static func / (path: DataAPIPath, segment: String) -> DataAPIPath {
        var path = path
        path.segments.append(segment)
        return path
    }

    static func webhooks(_ function: String, _ id: Int? = nil, in database: String) -> DataAPIPath {
        var path = DataAPIPath("fmi", "odata", "v4", database, "Webhook.\(function)")
        path.argument = id
        return path
    }

    /// The argument as it is sent: its parentheses are no part of a name and are not encoded.
    var writtenArgument: String { argument.map { "(\($0))" } ?? "" }

    /// The path as it is sent, with a leading slash. Throws when a name is empty or a dot segment: it would change the
    /// meaning of the path.
    func encoded() throws(FMRest.APIError) -> String {
        var path = ""
        path.reserveCapacity(128)
        for segment in segments {
            guard !segment.isEmpty, segment != ".", segment != ".." else {
                throw FMRest.APIError(
                    .invalidRequest,
                    reason: "A database, layout, script or field cannot be named \"\(segment)\"."
                )
            }
            path += "/"
            path += segment.percentEncoded
        }
        return path + writtenArgument
    }
}
