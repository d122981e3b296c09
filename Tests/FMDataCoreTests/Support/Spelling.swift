/// The spelling of a JSON answer: everything except the content that its author chose.
///
/// White space, the keys of the protocol, their order, `true`, `false` and `null` are kept. In a number each digit
/// becomes a 9. A text is replaced by its kind (``kind(of:)``), and the name of a field or a portal by its form.
struct Spelling {
    /// One token or one run of white space each.
    private(set) var parts: [String] = []
    private var rest: Substring

    /// - Parameter text: JSON.
    init(of text: String) {
        rest = text[...]
        take(while: { $0 == "\u{FEFF}" })
        space()
        value(in: .keys)
        space()
        if !rest.isEmpty { parts.append("and then \(rest)") }
    }

    /// What the keys of an object are names of.
    private enum Owner {
        case keys, fields, portals, rows
    }

    private mutating func value(in owner: Owner, verbatim: Bool = false) {
        switch rest.first {
        case "{": list(to: "}") { $0.member(in: owner) }
        case "[": list(to: "]") { $0.value(in: owner) }
        case "\"": parts.append(verbatim ? text() : Self.kind(of: text()))
        default:
            let scalar = rest.prefix { !",]}".contains($0) && !$0.isWhitespace }
            parts.append(String(scalar.map(Self.digitsAsNines)))
            rest = rest.dropFirst(scalar.count)
        }
    }

    private mutating func list(to end: Character, _ element: (inout Spelling) -> Void) {
        parts.append(String(rest.removeFirst()))
        space()
        while let next = rest.first, next != end {
            if next == "," { parts.append(String(rest.removeFirst())) } else { element(&self) }
            space()
        }
        if !rest.isEmpty { parts.append(String(rest.removeFirst())) }
    }

    private mutating func member(in owner: Owner) {
        let key = text()
        let isOwn = owner == .fields || owner == .portals || owner == .rows && !["recordId", "modId"].contains(key)
        parts.append(isOwn ? Self.form(of: key) : key)
        space()
        if rest.first == ":" { parts.append(String(rest.removeFirst())) }
        space()
        let inner: Owner =
            switch (owner, key) {
            case (.keys, "fieldData"), (.keys, "portalMetaData"): .fields
            case (.keys, "portalData"): .portals
            case (.portals, _): .rows
            default: .keys
            }
        // The values by which a server describes a field are kept.
        value(in: inner, verbatim: owner == .keys && ["type", "displayType", "result"].contains(key))
    }

    private mutating func space() { take(while: \.isWhitespace) }

    private mutating func take(while isPart: (Character) -> Bool) {
        let run = rest.prefix(while: isPart)
        if !run.isEmpty { parts.append(String(run)) }
        rest = rest.dropFirst(run.count)
    }

    /// The text between two quotes, with its escapes.
    private mutating func text() -> String {
        rest = rest.dropFirst()
        var isEscaped = false
        let text = rest.prefix { character in
            if isEscaped {
                isEscaped = false
                return true
            }
            isEscaped = character == "\\"
            return character != "\""
        }
        rest = rest.dropFirst(text.count + 1)
        return String(text)
    }

    // MARK: Replacing names and values

    private static func digitsAsNines(_ character: Character) -> Character {
        "0123456789".contains(character) ? "9" : character
    }

    /// The properties of a field's or portal's name that are kept: whether it is empty, and whether it has a table, a
    /// repetition or letters beyond ASCII.
    private static func form(of name: String) -> String {
        let table = name.contains("::") ? "table::" : ""
        let repetition = name.firstMatch(of: /\(\d+\)$/).map { String($0.output) } ?? ""
        return name.isEmpty ? "no name" : table + "name" + repetition + beyondASCII(name)
    }

    /// In a date, a time, a version or a number each digit becomes a 9, and in a long identifier each digit becomes an
    /// x. In a container's URL the host and the identifier are replaced. Of any other text these properties are kept:
    /// its escapes, whether it ends with a return, whether white space is at an end, and whether it has letters beyond
    /// ASCII.
    private static func kind(of text: String) -> String {
        if text.isEmpty { return "nothing" }
        if text.allSatisfy({ "0123456789/:. -".contains($0) }) { return "text \(String(text.map(digitsAsNines)))" }
        if text.wholeMatch(of: /[0-9A-Fa-f-]{12,}/) != nil {
            return "text \(text.replacing(/[0-9A-Fa-f]/, with: "x"))"
        }
        if text.hasPrefix("https://") {
            return text.replacing(/^https:\/\/[^\/]+/, with: "https://host").replacing(/[0-9A-F]{32,}/, with: "id")
        }
        let escapes = text.matches(of: /\\./).map { String($0.output) }.joined()
        let ends = [text.first, text.last].compactMap { $0?.isWhitespace == true ? "space at an end" : nil }.joined()
        let lastReturn = text.hasSuffix("\\r") ? " at the end" : ""
        return "text" + escapes + lastReturn + ends + beyondASCII(text)
    }

    private static func beyondASCII(_ text: String) -> String {
        text.allSatisfy(\.isASCII) ? "" : " é"
    }
}
