/// The place of a value in a JSON text, as `JSONGetElement` and `JSONSetElement` name it: `customer.phones[0].number`.
///
/// Source: Claris FileMaker Pro Help, "JSONGetElement", "JSONSetElement".
struct JSONPath {
    private enum Step {
        case key(String)
        case index(Int)

        /// In an array a plain number is an index too: `JSONGetElement ( "[1,2]" ; 0 )`.
        var index: Int? {
            switch self {
            case .key(let key): Int(key)
            case .index(let index): index
            }
        }
    }

    /// An array is never made longer than this.
    private static let longestArray = 100_000

    private let steps: [Step]

    init(_ text: String) {
        var steps: [Step] = []
        for part in text.split(separator: ".") {
            let key = part.prefix { $0 != "[" }
            if !key.isEmpty { steps.append(.key(String(key))) }
            for piece in part.dropFirst(key.count).split(separator: "[") {
                let name = piece.hasSuffix("]") ? piece.dropLast() : piece
                steps.append(Int(name).map { .index($0) } ?? .key(String(name)))
            }
        }
        self.steps = steps
    }

    // MARK: Reading

    /// The value as a text: empty where there is none, and `?` with a reason for a text that is no JSON, as FileMaker's.
    func text(in json: String) -> String {
        guard !json.isEmpty else { return "" }
        guard var value = try? JSONParser.parse(Array(json.utf8)) else { return "? not JSON" }
        for step in steps {
            switch (step, value) {
            case (.key(let key), .object(let object)):
                guard let next = object[key] else { return "" }
                value = next
            case (_, .array(let elements)):
                guard let index = step.index, elements.indices.contains(index) else { return "" }
                value = elements[index]
            default: return ""
            }
        }
        switch value {
        case .null: return ""
        case .bool(let bool): return bool ? "1" : "0"
        case .number(let digits): return digits
        case .string(let text): return text
        case .array, .object: return Self.text(of: value)
        }
    }

    private static func text(of value: JSONValue) -> String { String(decoding: JSONWriter.write(value), as: UTF8.self) }

    // MARK: Writing

    /// The JSON text with a value in this place, which is made if need be.
    func text(setting text: String, kind: String, in json: String) -> String {
        guard let old = json.isEmpty ? .object([:]) : try? JSONParser.parse(Array(json.utf8)) else {
            return "? not JSON"
        }
        guard let value = Self.value(text, kind) else { return "? not JSON" }
        guard let new = Self.setting(value, at: steps[...], in: old) else { return "? no such place" }
        return Self.text(of: new)
    }

    /// The numbers of `JSONRaw`, `JSONString` and the others. Any other kind finds out by itself.
    private static func value(_ text: String, _ kind: String) -> JSONValue? {
        switch kind {
        case "1": .string(text)
        case "2": .number(FMNumber(reading: text)?.text ?? "0")
        case "3", "4": text.isEmpty ? (kind == "3" ? [:] : []) : try? JSONParser.parse(Array(text.utf8))
        case "5": .bool(FMNumber(reading: text).map { !$0.isZero } ?? (text.lowercased() == "true"))
        case "6": .null
        default: (try? JSONParser.parse(Array(text.utf8))) ?? .string(text)
        }
    }

    private static func setting(_ value: JSONValue, at steps: ArraySlice<Step>, in old: JSONValue?) -> JSONValue? {
        guard let step = steps.first else { return value }
        switch step {
        case .key(let key) where old?.array == nil:
            var object = old?.object ?? [:]
            guard let inner = setting(value, at: steps.dropFirst(), in: object[key]) else { return nil }
            if let place = object.members.firstIndex(where: { $0.key == key }) {
                object = JSONObject(
                    members: object.members.enumerated().map { $0 == place ? .init(key: key, value: inner) : $1 }
                )
            } else {
                object.append(key, inner)
            }
            return .object(object)
        case .key, .index:
            var elements = old?.array ?? []
            guard let index = step.index, (0..<longestArray).contains(index) else { return nil }
            while elements.count <= index { elements.append(.null) }
            guard let inner = setting(value, at: steps.dropFirst(), in: elements[index]) else { return nil }
            elements[index] = inner
            return .array(elements)
        }
    }
}
