import FMHTTP
import Foundation

extension DataAPI.ContainerHead {
    /// Reads the headers of an answer with a container's content.
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

    /// The length of a compressed body is not the length of the content, so it is ignored.
    private static func byteCount(in headers: HTTPHeaders) -> Int? {
        guard !headers.contains(name: "Content-Encoding") else { return nil }
        return headers.first(name: "Content-Length").flatMap(\.utf8.decimalNumber)
    }

    /// The file name in a `Content-Disposition`, of any disposition; `filename*` (UTF-8) takes precedence.
    static func fileName(in header: String) -> String? {
        let parameters = HeaderParameters(header)
        let name = parameters["filename*"].flatMap(decodedName) ?? parameters["filename"]
        return name.flatMap(withoutFolders)
    }

    /// Decodes a value such as `UTF-8''na%C3%AFve.jpg`.
    private static func decodedName(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return String(parts[2]).removingPercentEncoding
    }

    /// The server must not decide where a file goes on this machine (RFC 6266 §4.3), nor how a terminal shows its name.
    /// The name is read by scalars, as file systems read bytes: a slash before a combining accent is a slash.
    private static func withoutFolders(_ name: String) -> String? {
        let last = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last
        guard let visible = last.map({ part in String(part.filter { $0.staysInItsLine }) }) else { return nil }
        return [".", "..", ""].contains(visible) ? nil : visible
    }
}

extension Unicode.Scalar {
    /// False for control characters, line ends, and characters that change the writing direction of the text that
    /// follows, which can make `jpg.exe` look like `exe.gpj`.
    fileprivate var staysInItsLine: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        default: !properties.isBidiControl
        }
    }
}

/// The parameters of a header value such as `attachment; filename="bow.jpg"` ([RFC 9110
/// §5.6.6](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.6)). If a name is repeated, its first value counts.
///
/// The value is read by scalars, so that a quote before a combining accent is a quote.
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

    /// Only quotes and backslashes can be escaped, since servers write Windows paths without escapes.
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
