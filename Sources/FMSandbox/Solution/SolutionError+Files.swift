import Foundation

// Errors in the file of a solution, described in terms of the file instead of the decoder.

extension SolutionError {
    /// - Parameter document: The decoded JSON, for the value at the place of the error.
    init(solution: String, _ error: DecodingError, in document: JSONValue? = nil) {
        let context: DecodingError.Context
        let reason: String
        switch error {
        case .typeMismatch(let type, let place), .valueNotFound(let type, let place):
            let value = document?.value(at: place.codingPath)
            let choices = (type as? any (RawRepresentable & CaseIterable).Type).map { Self.choices($0) }
            let found = choices == nil ? value?.kind : value?.spelling
            context = place
            reason = "expected \(choices ?? Self.name(of: type))" + (found.map { ", found \($0)" } ?? "")
        case .keyNotFound(let key, let place):
            (context, reason) = (place, "missing key \(key.stringValue)")
        case .dataCorrupted(let place) where place.codingPath.isEmpty && document != nil:
            // For a number that does not fit, Foundation only says that the text is not JSON, without the place.
            let numbers = document?.unusualNumbers() ?? []
            let path = numbers.count == 1 ? numbers[0].path : []
            context = DecodingError.Context(codingPath: path, debugDescription: "")
            reason =
                "a number has a fraction or is too large for its place"
                + (numbers.count == 1 ? ", found \(numbers[0].digits)" : "")
        case .dataCorrupted(let place):
            (context, reason) = (place, place.debugDescription)
        @unknown default:
            (context, reason) = (DecodingError.Context(codingPath: [], debugDescription: ""), "cannot be read")
        }
        let path = context.codingPath.reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
        self.init(solution: solution, path: path, reason: reason)
    }

    /// An error for a text that is not JSON.
    init(solution: String, _ fault: JSONParser.Failure, in document: [UInt8]) {
        let before = document.prefix(fault.offset)
        let line = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // Continuation bytes of UTF-8 do not count as columns.
        let column = (line.last ?? []).count { $0 & 0xC0 != 0x80 } + 1
        var reason = fault.reason
        if reason.hasPrefix("expected") {
            let rest = String(decoding: document.dropFirst(fault.offset).prefix(16), as: UTF8.self)
            reason += ", found " + (rest.first.map { String(reflecting: "\($0)") } ?? "the end of the file")
        }
        self.init(solution: solution, path: "line \(line.count), column \(column)", reason: reason)
    }

    /// The choices as text: `"form" or "table"`.
    static func choices<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) -> String {
        let choices = type.allCases.map { String(reflecting: $0.rawValue) }
        return (choices.count > 1 ? choices.dropLast().joined(separator: ", ") + " or " : "")
            + choices.suffix(1).joined()
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is Int.Type, is Double.Type: "a number"
        case is Decimal.Type: "a text or a number"
        case is any ExpressibleByDictionaryLiteral.Type: "an object"
        case is any Collection.Type: "a list"
        default: "an object"
        }
    }
}

extension Solution {
    /// Decodes a value from a JSON file. The text is parsed with `JSONParser` first, because Foundation accepts a
    /// trailing comma and does not name the line of a missing one.
    static func decode<Value: Decodable>(_ type: Value.Type, from file: URL) throws -> Value {
        let data = try contents(of: file)
        // Some editors write a byte order mark.
        let text = Array(data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data)
        let document: JSONValue
        do {
            document = try JSONParser.parse(text)
        } catch {
            throw SolutionError(solution: file.givenPath, error, in: text)
        }
        do {
            return try JSONDecoder().decode(type, from: Data(text))
        } catch let error as DecodingError {
            throw SolutionError(solution: file.givenPath, error, in: document)
        }
    }

    /// The bytes of a file. Throws ``SolutionError`` if it cannot be read.
    static func contents(of file: URL) throws(SolutionError) -> Data {
        var isFolder: ObjCBool = false
        func failure(_ reason: String) -> SolutionError {
            SolutionError(solution: file.givenPath, path: "", reason: reason)
        }
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
            throw failure("there is no such file")
        }
        guard !isFolder.boolValue else { throw failure("expected a file, found a folder") }
        guard FileManager.default.isReadableFile(atPath: file.path) else {
            throw failure("no permission to read the file")
        }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw failure("the file cannot be read")
        }
    }
}

extension JSONValue {
    fileprivate func value(at path: [any CodingKey]) -> JSONValue? {
        path.reduce(self) { value, key in
            switch value {
            case .array(let elements)?: key.intValue.flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            case .object(let object)?: object[key.stringValue]
            default: nil
            }
        }
    }

    /// The numbers that are not integers, and their paths.
    fileprivate func unusualNumbers(_ path: [AnyKey] = []) -> [(path: [AnyKey], digits: String)] {
        switch self {
        case .number(let digits): Int(digits) == nil ? [(path, digits)] : []
        case .array(let elements):
            elements.enumerated().flatMap { $1.unusualNumbers(path + [AnyKey(intValue: $0)]) }
        case .object(let object):
            object.members.flatMap { $0.value.unusualNumbers(path + [AnyKey(stringValue: $0.key)]) }
        case .null, .bool, .string: []
        }
    }

    /// The value itself for a string or a number, else its kind.
    fileprivate var spelling: String {
        switch self {
        case .string(let text): String(reflecting: text)
        case .number(let digits): digits
        case .null, .bool, .array, .object: kind
        }
    }

    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension URL {
    /// The path as it was given, for errors.
    var givenPath: String { relativePath.hasPrefix("./") ? String(relativePath.dropFirst(2)) : relativePath }
}
