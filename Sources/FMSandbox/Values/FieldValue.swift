import Foundation

/// The content of one repetition of a field in a record.
///
/// FileMaker keeps what was typed, whatever the type of the field: a number field may contain `25abc`, a date field
/// loaded from a file may contain no date. So a value is its text. Dates, times and timestamps are kept in the Data
/// API's US format (`MM/dd/yyyy HH:mm:ss`). Code that needs the number or the date parses the text with ``FMNumber`` or
/// ``CivilDate``.
enum FieldValue: Equatable, Sendable {
    case text(String)
    case container(ContainerContent)

    static let empty = FieldValue.text("")

    var isEmpty: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .container: false
        }
    }

    /// The text; for a container the name of its file, as in FileMaker.
    var text: String {
        switch self {
        case .text(let text): text
        case .container(let content): content.filename
        }
    }
}

/// The content of a container field, with the bytes exactly as they were uploaded.
struct ContainerContent: Equatable, Sendable {
    var filename: String
    var contentType: String
    var bytes: [UInt8]
}

extension ContainerContent {
    /// Parses the format of solution files: `data:<type>;name=<file name>;base64,<bytes>`.
    init?(dataURL text: String) {
        guard text.hasPrefix("data:"), let comma = text.firstIndex(of: ","),
            let data = Data(base64Encoded: String(text[text.index(after: comma)...]))
        else { return nil }
        let parameters = text[..<comma].dropFirst(5).split(separator: ";")
        guard parameters.last == "base64" else { return nil }
        let name = parameters.first { $0.hasPrefix("name=") }.map { String($0.dropFirst(5)) }
        self.init(
            filename: name?.removingPercentEncoding ?? "file",
            contentType: parameters.first?.removingPercentEncoding ?? "application/octet-stream",
            bytes: Array(data)
        )
    }

    private static let typeCharacters = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "/+-."))

    /// The content in the format that ``init(dataURL:)`` parses.
    var dataURL: String {
        let name = filename.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "file"
        // Its parameters have semicolons, and a comma would end it.
        let type = contentType.addingPercentEncoding(withAllowedCharacters: Self.typeCharacters) ?? "text/plain"
        return "data:\(type);name=\(name);base64,\(Data(bytes).base64EncodedString())"
    }
}
