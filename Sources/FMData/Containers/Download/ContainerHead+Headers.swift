import FMHTTP
import Foundation

extension DataAPI.ContainerHead {
    /// Reads the headers of an answer.
    ///
    /// Sources: [RFC 6266](https://www.rfc-editor.org/rfc/rfc6266) for `Content-Disposition`,
    /// [RFC 8187](https://www.rfc-editor.org/rfc/rfc8187) for names in UTF-8.
    init(_ headers: HTTPHeaders) {
        self.init(
            fileName: headers.first(name: "Content-Disposition").flatMap(Self.fileName(in:)),
            mimeType: headers.first(name: "Content-Type").flatMap(Self.mimeType(in:)),
            byteCount: Self.byteCount(in: headers)
        )
    }

    private static func mimeType(in header: String) -> String? {
        let essence = header.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        return MIMEType.isValid(essence) ? essence : nil
    }

    /// The length of something that was compressed for the way says nothing of the content.
    private static func byteCount(in headers: HTTPHeaders) -> Int? {
        guard !headers.contains(name: "Content-Encoding") else { return nil }
        return headers.first(name: "Content-Length").flatMap(\.utf8.decimalNumber)
    }

    /// The name in a `Content-Disposition`, whatever the disposition; that in UTF-8 wins.
    static func fileName(in header: String) -> String? {
        let parameters = HeaderParameters(header)
        let name = parameters["filename*"].flatMap(decodedName) ?? parameters["filename"]
        return name.flatMap(withoutFolders)
    }

    /// `UTF-8''na%C3%AFve.jpg`
    private static func decodedName(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return String(parts[2]).removingPercentEncoding
    }

    /// A server has no say in where a file goes on this machine (RFC 6266 §4.3), nor in how a terminal shows it. Read by
    /// scalars, as file systems read bytes: a slash before an accent is a slash.
    private static func withoutFolders(_ name: String) -> String? {
        let last = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last
        guard let visible = last.map({ part in String(part.filter { $0.staysInItsLine }) }) else { return nil }
        return [".", "..", ""].contains(visible) ? nil : visible
    }
}

extension Unicode.Scalar {
    /// Neither a control character, nor the end of a line, nor one that turns the direction of what follows, which makes
    /// `exe.gpj` of `jpg.exe`.
    fileprivate var staysInItsLine: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        default: !properties.isBidiControl
        }
    }
}

/// The parameters of a header value such as `attachment; filename="bow.jpg"`
/// ([RFC 9110 §5.6.6](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.6)). The first of a name counts.
///
/// Read by scalars: a quote stays a quote before a combining accent.
private struct HeaderParameters {
    private typealias Text = Substring.UnicodeScalarView

    private var values: [String: String] = [:]

    init(_ header: String) {
        var rest = header[...].unicodeScalars
        Self.skip(to: ";", &rest)
        while rest.popFirst() != nil {
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest[name.endIndex...]
            if rest.first == "=" {
                rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
                let value = rest.first == "\"" ? Self.takeQuoted(&rest) : Self.takeToken(&rest)
                let key = Self.trimmed(name).lowercased()
                if values[key] == nil { values[key] = value }
            }
            Self.skip(to: ";", &rest)
        }
    }

    subscript(name: String) -> String? { values[name] }

    private static func skip(to end: Unicode.Scalar, _ rest: inout Text) {
        rest = rest.drop { $0 != end }
    }

    private static func takeToken(_ rest: inout Text) -> String {
        let token = rest.prefix { $0 != ";" }
        rest = rest[token.endIndex...]
        return trimmed(token)
    }

    /// Only a quote and a backslash are taken to be escaped: servers write Windows paths as they are.
    private static func takeQuoted(_ rest: inout Text) -> String {
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            if scalar == "\\", let next = rest.first, next == "\"" || next == "\\" {
                value.append(rest.removeFirst())
            } else {
                value.append(scalar)
            }
        }
        return String(value)
    }

    private static func trimmed(_ text: Text) -> String {
        String(text).trimmingCharacters(in: .whitespaces)
    }
}
