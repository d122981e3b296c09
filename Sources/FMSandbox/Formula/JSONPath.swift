/// The path of a value in a JSON text, in the notation of `JSONGetElement` and `JSONSetElement`:
/// `customer.phones[0].number`.
///
/// Source: Claris FileMaker Pro Help, "JSONGetElement", "JSONSetElement".
struct JSONPath {
    private enum Step {
        case key(String)
        case index(Int)
        /// `[:]`
        case last
        /// `[+]`
        case new

        /// The index in an array of `count` elements. A plain number is an index too: `JSONGetElement ( "[1,2]" ; 0 )`.
        func index(in count: Int) -> Int? {
            switch self {
            case .key(let key): Int(key)
            case .index(let index): index
            case .last: count - 1
            case .new: count
            }
        }
    }

    /// The result for a text that is not JSON.
    private static let notJSON = "? not JSON"
    /// The maximum length to which an array is extended.
    private static let longestArray = 100_000

    private let steps: [Step]

    /// Parses a path: keys are separated by periods; brackets hold an index or a quoted key: `a.b[0]`,
    /// `a['first.name']`.
    init(_ text: String) {
        var steps: [Step] = []
        var rest = text[...]
        while let character = rest.first {
            if character == "[" {
                rest.removeFirst()
                steps.append(Self.bracketed(&rest))
            } else if character == "." {
                rest.removeFirst()
            } else {
                let key = rest.prefix { $0 != "." && $0 != "[" }
                rest = rest[key.endIndex...]
                steps.append(.key(String(key)))
            }
        }
        self.steps = steps
    }

    private static func bracketed(_ rest: inout Substring) -> Step {
        if let quote = rest.first, quote == "'" || quote == "\"" {
            let name = rest.dropFirst().prefix { $0 != quote }
            rest = rest[name.endIndex...].dropFirst()
            if rest.first == "]" { rest.removeFirst() }
            return .key(String(name))
        }
        let name = rest.prefix { $0 != "]" }
        rest = rest[name.endIndex...].dropFirst()
        switch name {
        case ":": return .last
        case "+": return .new
        default: return Int(name).map { .index($0) } ?? .key(String(name))
        }
    }

    // MARK: Reading

    /// The value as text: empty if there is none, and `?` with a reason if the text is not JSON, as in FileMaker.
    func text(in json: String) -> String { read(json, Self.text(of:)) }

    /// The number of the value's kind, as `JSONString` and the other constants define it; empty if there is no value.
    func kind(in json: String) -> String {
        read(json) { value in
            switch value {
            case .string: "1"
            case .number: "2"
            case .object: "3"
            case .array: "4"
            case .bool: "5"
            case .null: "6"
            }
        }
    }

    /// The keys of an object or the indexes of an array, one per line.
    func keys(in json: String) -> String {
        read(json) { value in
            (value.object?.keys ?? value.array?.indices.map(String.init) ?? []).joined(separator: "\r")
        }
    }

    /// The values of an object or an array, one per line.
    func values(in json: String) -> String {
        read(json) { value in
            (value.object?.members.map(\.value) ?? value.array ?? []).map(Self.text(of:)).joined(separator: "\r")
        }
    }

    private func read(_ json: String, _ answer: (JSONValue) -> String) -> String {
        guard !json.isEmpty else { return "" }
        guard var value = try? JSONParser.parse(Array(json.utf8)) else { return Self.notJSON }
        for step in steps {
            guard let next = Self.element(of: value, at: step) else { return "" }
            value = next
        }
        return answer(value)
    }

    private static func element(of value: JSONValue, at step: Step) -> JSONValue? {
        switch (step, value) {
        case (.key(let key), .object(let object)): return object[key]
        case (_, .array(let elements)):
            guard let index = step.index(in: elements.count), elements.indices.contains(index) else { return nil }
            return elements[index]
        default: return nil
        }
    }

    /// The value as the result of a function: anything but an object or an array has no quotes.
    private static func text(of value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .bool(let bool): bool ? "1" : "0"
        case .number(let digits): digits
        case .string(let text): text
        case .array, .object: json(of: value)
        }
    }

    private static func json(of value: JSONValue) -> String { String(decoding: JSONWriter.write(value), as: UTF8.self) }

    // MARK: Writing

    /// The JSON text with a value set at this path, which is created if necessary.
    func text(setting text: String, kind: String, in json: String) -> String {
        guard let old = json.isEmpty ? .object([:]) : try? JSONParser.parse(Array(json.utf8)) else {
            return Self.notJSON
        }
        guard let value = Self.value(text, kind) else { return Self.notJSON }
        guard let new = Self.setting(value, at: steps[...], in: old) else { return "? no such place" }
        return Self.json(of: new)
    }

    /// The JSON text without the value at this path, if there is one.
    func text(deletingIn json: String) -> String {
        guard !json.isEmpty else { return "" }
        guard let old = try? JSONParser.parse(Array(json.utf8)) else { return Self.notJSON }
        return Self.json(of: Self.deleting(at: steps[...], in: old))
    }

    private static func deleting(at steps: ArraySlice<Step>, in old: JSONValue) -> JSONValue {
        guard let step = steps.first, let inner = element(of: old, at: step) else { return old }
        let new = steps.count == 1 ? nil : deleting(at: steps.dropFirst(), in: inner)
        switch (step, old) {
        case (.key(let key), .object(let object)):
            return .object(
                JSONObject(
                    members: object.members.compactMap { member in
                        member.key == key ? new.map { .init(key: key, value: $0) } : member
                    }
                )
            )
        case (_, .array(var elements)):
            guard let index = step.index(in: elements.count) else { return old }
            elements.replaceSubrange(index...index, with: new.map { [$0] } ?? [])
            return .array(elements)
        default: return old
        }
    }

    /// Makes a value of the kind that the number of `JSONRaw`, `JSONString` and so on names. Any other kind parses the
    /// text as JSON and falls back to a string.
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
        case .key, .index, .last, .new:
            var elements = old?.array ?? []
            guard let index = step.index(in: elements.count), (0..<longestArray).contains(index) else { return nil }
            while elements.count <= index { elements.append(.null) }
            guard let inner = setting(value, at: steps.dropFirst(), in: elements[index]) else { return nil }
            elements[index] = inner
            return .array(elements)
        }
    }
}
