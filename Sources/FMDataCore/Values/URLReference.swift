import FMHTTP

/// A URI reference, absolute or relative, parsed and resolved by [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986), as
/// it occurs in container fields and `Location` headers.
///
/// Foundation's `URL` is not used here because it repairs its input. These components decide where a token is sent, so
/// text that two parsers may read differently (a backslash, a space or a control character in the authority, user
/// information) is refused instead.
struct URLReference: Hashable, Sendable {
    private(set) var scheme: String?
    private(set) var authority: Authority?
    private(set) var path: String
    private(set) var query: String?

    /// Parses a text. A fragment is dropped, since it is never sent. Characters that should have been percent-encoded
    /// in path and query, such as spaces, are encoded; `nil` if the text is not a URI reference even then.
    init?(_ text: String) {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        var rest = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[..<colon].isScheme {
            scheme = String(decoding: rest[..<colon], as: UTF8.self).lowercased()
            rest = rest[rest.index(after: colon)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let text = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            // RFC 3986 allows an empty port.
            let authorityText = Substring(text.last == UInt8(ascii: ":") ? text.dropLast() : text)
            guard let authority = Authority(authorityText) else { return nil }
            self.authority = authority
            rest = rest[text.endIndex...]
        }
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        self.path = path.encodingStrayBytes()
        rest = rest[path.endIndex...]
        query = rest.isEmpty ? nil : rest.dropFirst().encodingStrayBytes()
    }

    private init(scheme: String?, authority: Authority?, path: String, query: String?) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
    }

    /// The origin that a request for the URL is sent to. `nil` for anything but an absolute `http` or `https` URL with
    /// a host.
    var origin: Origin? {
        guard let scheme = scheme.flatMap(Origin.Scheme.init), let authority, !authority.host.isEmpty else {
            return nil
        }
        return Origin(scheme: scheme, host: authority.host, port: authority.port)
    }

    /// The target in the request line: path and query.
    var target: String {
        (path.isEmpty ? "/" : path) + (query.map { "?\($0)" } ?? "")
    }

    /// The path with its escapes decoded, for checks only; bytes that are not UTF-8 become replacement characters.
    var decodedPath: String {
        var bytes: [UInt8] = []
        var rest = path.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"),
                let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Resolves a reference relative to this URL, by the algorithm of RFC 3986 §5.2.2.
    func resolving(_ reference: URLReference) -> URLReference {
        if let scheme = reference.scheme {
            return URLReference(
                scheme: scheme,
                authority: reference.authority,
                path: Self.removingDotSegments(reference.path),
                query: reference.query
            )
        }
        if let authority = reference.authority {
            return URLReference(
                scheme: scheme,
                authority: authority,
                path: Self.removingDotSegments(reference.path),
                query: reference.query
            )
        }
        if reference.path.isEmpty {
            return URLReference(scheme: scheme, authority: authority, path: path, query: reference.query ?? query)
        }
        return URLReference(
            scheme: scheme,
            authority: authority,
            path: Self.removingDotSegments(reference.path.hasPrefix("/") ? reference.path : merged(reference.path)),
            query: reference.query
        )
    }

    /// Merges a relative path with this path by RFC 3986 §5.2.3.
    private func merged(_ relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.lastIndex(of: "/") else { return relative }
        return path[...slash] + relative
    }

    /// Removes dot segments by RFC 3986 §5.2.4: `.` is removed, `..` is removed with the segment before it.
    private static func removingDotSegments(_ path: String) -> String {
        let isAbsolute = path.hasPrefix("/")
        var kept: [Substring] = []
        let segments = (isAbsolute ? path.dropFirst() : path[...]).split(
            separator: "/",
            omittingEmptySubsequences: false
        )
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return (isAbsolute ? "/" : "") + kept.joined(separator: "/")
    }
}

extension Substring.UTF8View {
    fileprivate var isScheme: Bool {
        guard let first, first.isLetter else { return false }
        return allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
    }

    /// The text with every byte percent-encoded that is not allowed in a path or query. A percent sign that does not
    /// begin an escape is encoded as well.
    fileprivate func encodingStrayBytes() -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(count)
        for index in indices {
            let byte = self[index]
            let isFine =
                byte == UInt8(ascii: "%")
                ? self[index...].dropFirst().prefix(2).filter(\.isHexadecimal).count == 2
                : byte.isLetterOrDigit || "-._~!$&'()*+,;=:@/?".utf8.contains(byte)
            if isFine {
                encoded.append(byte)
            } else {
                encoded.append(contentsOf: "%".utf8)
                encoded.append(contentsOf: (byte < 16 ? "0" : "").utf8)
                encoded.append(contentsOf: String(byte, radix: 16, uppercase: true).utf8)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }

    fileprivate var isLetterOrDigit: Bool {
        isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }

    fileprivate var isHexadecimal: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}
