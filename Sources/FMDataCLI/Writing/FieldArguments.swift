import FMData
import FMModel
import Foundation

/// The values of a write, as the user types them: `City=Calgary`, `Total:=12.5`, `Notes=@notes.txt`, `@record.json`.
struct FieldArguments {
    private(set) var fields = FieldData()
    private(set) var portals: [String: [FieldData]] = [:]

    /// Reads values. Throws if a field is not on the layout, or a date is none.
    ///
    /// - Parameters:
    ///   - words: The arguments.
    ///   - known: What the layout shows.
    ///   - read: Returns the content of a file; `-` is standard input.
    init(_ words: [String], _ known: LayoutFields, read: (String) throws -> Data = FieldArguments.content) throws {
        for word in words {
            if word == "-" || word.hasPrefix("@") {
                try take(recordIn: try read(word == "-" ? word : String(word.dropFirst())), word, known)
            } else {
                let (field, value, isJSON) = try Self.parts(of: word, known)
                if isJSON {
                    try take(json: value, as: field, known)
                } else {
                    let text = value.hasPrefix("@") ? try Self.text(try read(String(value.dropFirst())), value) : value
                    fields[field] = try Self.value(text, try Self.writable(field, known))
                }
            }
        }
    }

    /// The content of a file, or of standard input.
    static func content(of path: String) throws -> Data {
        if let captured = CommandStreams.captured {
            guard path == "-" else { throw CommandError("Files cannot be read from here.", .usage) }
            return captured.input
        }
        if path == "-" {
            return try FileError.telling("read standard input") { try FileHandle.standardInput.readToEnd() ?? Data() }
        }
        return try FileError.telling("read \(path)") { try Data(contentsOf: URL(fileURLWithPath: path)) }
    }

    private static func text(_ content: Data, _ word: String) throws(CommandError) -> String {
        guard let text = String(data: content, encoding: .utf8) else {
            throw CommandError("\(word): the text is not UTF-8.", .usage)
        }
        // The last line of a file ends with a line break that is no part of the value.
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    // MARK: Words

    private static func parts(
        of word: String,
        _ known: LayoutFields
    ) throws(CommandError) -> (field: String, value: String, isJSON: Bool) {
        func split(_ field: String, _ rest: Substring) -> (String, String, Bool)? {
            if rest.hasPrefix(":=") { return (field, String(rest.dropFirst(2)), true) }
            return rest.hasPrefix("=") ? (field, String(rest.dropFirst()), false) : nil
        }
        for name in known.namesByLength where word.hasPrefix(name) {
            let rest = word.dropFirst(name.count)
            let repetition = rest.prefixMatch(of: #/\([0-9]+\)/#)?.output ?? ""
            if let parts = split(name + repetition, rest.dropFirst(repetition.count)) { return parts }
        }
        guard let sign = word.firstIndex(of: "="), sign != word.startIndex else {
            throw CommandError(
                "Expected a value such as City=Calgary, Total:=12.5 or Notes=@file, found \"\(word)\".",
                .usage
            )
        }
        let isJSON = word[word.index(before: sign)] == ":"
        let field = String(isJSON ? word[..<word.index(before: sign)] : word[..<sign])
        _ = try known.known(field)
        return (field, String(word[word.index(after: sign)...]), isJSON)
    }

    private mutating func take(json: String, as field: String, _ known: LayoutFields) throws(CommandError) {
        let expected = "\(field): expected a text, a number or a list of them as JSON."
        guard json.first(where: { !$0.isWhitespace }) == "[" else {
            return try take(try Self.decoded(FieldValue.self, Data(json.utf8), expected), as: field, known)
        }
        // A list fills the repetitions of its field.
        for (index, value) in try Self.decoded([FieldValue].self, Data(json.utf8), expected).enumerated() {
            try take(value, as: "\(field)(\(index + 1))", known)
        }
    }

    private static func decoded<Value: Decodable>(
        _ type: Value.Type,
        _ json: Data,
        _ expected: String
    ) throws(CommandError) -> Value {
        do {
            return try FMDecoder().decode(type, from: json)
        } catch {
            throw CommandError(expected, .usage)
        }
    }

    private mutating func take(_ value: FieldValue, as name: String, _ known: LayoutFields) throws(CommandError) {
        let field = try Self.writable(name, known)
        fields[name] = if case .text(let text) = value { try Self.value(text, field) } else { value }
    }

    /// The field of a name, if it takes a value. The host's answer to the others is the one to a lack of privileges.
    private static func writable(_ name: String, _ known: LayoutFields) throws(CommandError) -> LayoutFields.Field {
        let field = try known.known(name)
        guard let computed = field.isComputed else { return field }
        throw CommandError("\(field.name) \(computed), and cannot be written.", .usage)
    }

    /// The value that is sent for a text, with FileMaker's line breaks. The digits of a number field travel as a
    /// number, which does not depend on the decimal separator of the file.
    private static func value(_ text: String, _ field: LayoutFields.Field) throws(CommandError) -> FieldValue {
        if field.result == .number, text.wholeMatch(of: #/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?/#) != nil,
            let number = FMNumber(text)
        {
            return .number(number)
        }
        return .text(try CivilText.sent(text.withLineBreaks("\r"), to: field))
    }

    // MARK: Records

    /// A record as JSON: its fields, or what `fmdata get --json` prints of it.
    private struct RecordInput: Decodable {
        var fields: FieldData
        var portals: [String: [FieldData]] = [:]

        private enum CodingKeys: CodingKey {
            case fieldData, portalData
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if container.contains(.fieldData) {
                fields = try container.decode(FieldData.self, forKey: .fieldData)
                portals = try container.decodeIfPresent([String: [FieldData]].self, forKey: .portalData) ?? [:]
            } else {
                fields = try FieldData(from: decoder)
            }
        }
    }

    private mutating func take(recordIn content: Data, _ word: String, _ known: LayoutFields) throws {
        let expected = "\(word): expected a JSON object of fields and their values."
        let record = try Self.decoded(RecordInput.self, content, expected)
        for (name, value) in record.fields { try take(value, as: name, known) }
        for (portal, rows) in record.portals {
            portals[try known.knownPortal(portal), default: []] += try rows.map { row in
                try FieldData(
                    row.map { name, value in
                        guard case .text(let text) = value, let field = known.field(name) else { return (name, value) }
                        return (name, try Self.value(text, field))
                    }
                )
            }
        }
    }
}
