/// The path of a request below `/fmi/data/v…`, as plain names. Each segment is percent-encoded on its own, so a layout
/// may be named "A/B", "50 %" or "Müller".
///
/// Source: Claris Data API guide, "URL and data format notes"; the grammar is in its endpoint pages.
package struct DataAPIPath: Hashable, Sendable {
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

    package static func records(of layout: String, in database: String) -> DataAPIPath {
        DataAPIPath("databases", database, "layouts", layout, "records")
    }

    package static func record(_ id: Int, of layout: String, in database: String) -> DataAPIPath {
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

extension String {
    /// The text with every byte percent-encoded except RFC 3986's unreserved characters, `A–Z a–z 0–9 - . _ ~`. The
    /// result is valid as a path segment and as a name or value of a query, since it contains no delimiter.
    var percentEncoded: String {
        // Most names need no encoding.
        if utf8.allSatisfy(\.isUnreserved) { return self }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(utf8.count)
        for byte in utf8 {
            if byte.isUnreserved {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(Self.hexDigits[Int(byte >> 4)])
                encoded.append(Self.hexDigits[Int(byte & 0x0F)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

extension UInt8 {
    /// Whether the byte is an unreserved character, RFC 3986 §2.3.
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default:
            false
        }
    }
}
