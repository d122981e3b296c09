extension DataAPI {
    /// The content of a container field in a record: nothing, a URL to download the content from, or the path of a file
    /// that the container only refers to.
    ///
    /// ```swift
    /// struct Vessel: Codable {
    ///     var photo: DataAPI.ContainerReference
    /// }
    /// ```
    ///
    /// An empty container is ``empty``, also if the property is optional. ``Database/download(_:isolation:)`` downloads
    /// the content of a reference.
    ///
    /// Encoding writes the text that was read. A container accepts no text except an empty one, which clears it; new
    /// content is uploaded (``FMRest/ContainerFile``).
    ///
    /// Source: Claris Data API guide, "Work with containers"; [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986) for
    /// URLs.
    public enum ContainerReference: Hashable, Sendable {
        /// The container is empty.
        case empty
        /// The `http` or `https` URL of the content. It is bound to the session and becomes invalid: do not store it,
        /// read the record again instead.
        case url(String)
        /// The content is a file outside the database that the container refers to by path. A Data API client cannot
        /// download it.
        case fileReference(FileReference)
        /// Any other text, which does not come from a container field.
        case text(String)

        /// The reference in the text of a container field.
        public init(_ text: String) {
            if text.isEmpty {
                self = .empty
            } else if let url = URLReference(text), url.origin != nil {
                self = .url(text)
            } else if let reference = FileReference(text) {
                self = .fileReference(reference)
            } else {
                self = .text(text)
            }
        }

        /// The text as it was read.
        public var text: String {
            switch self {
            case .empty: ""
            case .url(let text), .text(let text): text
            case .fileReference(let reference): reference.text
            }
        }

        /// Whether the container is empty.
        public var isEmpty: Bool { self == .empty }
    }

    /// The text by which a container refers to a file, such as `file:/Hauler/Manuals/winch.pdf`.
    ///
    /// A reference may try several places, one per line, and begin with a line for the size of a picture.
    public struct FileReference: Hashable, Sendable {
        /// The kind of file.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// Any file.
            case file
            /// A picture.
            case image
            /// A film or a sound.
            case movie
        }

        /// The kind of file.
        public let kind: Kind
        /// The places to look for the file, in this order, without their prefix.
        public let paths: [String]
        /// The text as it was read.
        public let text: String

        init?(_ text: String) {
            let places = text.split(whereSeparator: \.isNewline).compactMap(Self.place)
            guard let first = places.first else { return nil }
            self.kind = first.kind
            self.paths = places.map(\.path)
            self.text = text
        }

        /// One line: `image:path`, or with the system the path is for: `imagemac:path`.
        private static func place(_ line: Substring) -> (kind: Kind, path: String)? {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let scheme = line[..<colon].lowercased()
            let path = line[line.index(after: colon)...]
            guard !path.isEmpty else { return nil }
            for kind in Kind.allCases {
                for system in ["", "mac", "win", "linux"] where scheme == kind.rawValue + system {
                    return (kind, String(path))
                }
            }
            return nil
        }
    }
}

extension DataAPI.ContainerReference: Codable {
    /// Decodes from text.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text that was read.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
