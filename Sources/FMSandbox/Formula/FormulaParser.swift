/// Parses the text of a ``Formula`` by recursive descent, weakest operator first.
struct FormulaParser {
    /// The error in a formula.
    struct Failure: Error, Equatable {
        var reason: String
    }

    private enum Token: Equatable {
        case literal(String)
        case name(String)
        case field(String)
        case symbol(String)
    }

    private static let maximumDepth = 64

    private let tokens: [Token]
    private var position = 0
    private var depth = 0
    /// The names that the surrounding `Let`s define, in lower case because names of variables ignore case.
    private var bound: [String] = []

    /// The values of the constants that `JSONSetElement` uses for its kinds.
    private static let jsonKinds = [
        "jsonraw": "0", "jsonstring": "1", "jsonnumber": "2", "jsonobject": "3", "jsonarray": "4", "jsonboolean": "5",
        "jsonnull": "6",
    ]

    static func parse(_ text: String) throws -> Formula {
        var parser = FormulaParser(tokens: try tokens(of: text))
        let formula = try parser.disjunction()
        if let token = parser.current { throw Failure(reason: "unexpected \(describe(token))") }
        return formula
    }

    private init(tokens: [Token]) { self.tokens = tokens }

    private var current: Token? { position < tokens.count ? tokens[position] : nil }

    private mutating func take(_ symbols: [String]) -> String? {
        guard case .symbol(let symbol) = current, symbols.contains(symbol) else { return nil }
        position += 1
        return symbol
    }

    private mutating func takeWord(_ word: String) -> Bool {
        guard case .name(let name) = current, name.lowercased() == word else { return false }
        position += 1
        return true
    }

    private mutating func disjunction() throws -> Formula {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.maximumDepth else { throw Failure(reason: "nested too deeply") }
        var formula = try conjunction()
        while takeWord("or") { formula = .binary(.or, formula, try conjunction()) }
        return formula
    }

    private mutating func conjunction() throws -> Formula {
        var formula = try comparison()
        while takeWord("and") { formula = .binary(.and, formula, try comparison()) }
        return formula
    }

    private mutating func comparison() throws -> Formula {
        let formula = try concatenation()
        guard let symbol = take(["=", "≠", "<>", "<=", "≤", "<", ">=", "≥", ">"]) else { return formula }
        let plain = ["<>": "≠", "<=": "≤", ">=": "≥"][symbol] ?? symbol
        guard let operation = Formula.Operator(rawValue: plain) else { throw Failure(reason: "unknown operator") }
        return .binary(operation, formula, try concatenation())
    }

    private mutating func concatenation() throws -> Formula {
        var formula = try sum()
        while take(["&"]) != nil { formula = .binary(.concatenate, formula, try sum()) }
        return formula
    }

    private mutating func sum() throws -> Formula {
        var formula = try product()
        while let symbol = take(["+", "-"]) {
            formula = .binary(symbol == "+" ? .add : .subtract, formula, try product())
        }
        return formula
    }

    private mutating func product() throws -> Formula {
        var formula = try prefixed()
        while let symbol = take(["*", "/"]) {
            formula = .binary(symbol == "*" ? .multiply : .divide, formula, try prefixed())
        }
        return formula
    }

    private mutating func prefixed() throws -> Formula {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.maximumDepth else { throw Failure(reason: "nested too deeply") }
        if take(["-"]) != nil { return .negative(try prefixed()) }
        if takeWord("not") { return .not(try prefixed()) }
        return try primary()
    }

    private mutating func primary() throws -> Formula {
        guard let token = current else { throw Failure(reason: "unexpected end") }
        position += 1
        switch token {
        case .literal(let text): return .literal(text)
        case .field(let name): return .field(name)
        case .name(let name): return try named(name)
        case .symbol("("):
            let formula = try disjunction()
            guard take([")"]) != nil else { throw Failure(reason: "missing )") }
            return formula
        case .symbol: throw Failure(reason: "unexpected \(Self.describe(token))")
        }
    }

    /// A variable, a function with its arguments, or a field.
    private mutating func named(_ name: String) throws -> Formula {
        if bound.contains(name.lowercased()) { return .variable(name.lowercased()) }
        if name.hasPrefix("$") { return .variable(name) }
        guard take(["("]) != nil else { return Self.jsonKinds[name.lowercased()].map { .literal($0) } ?? .field(name) }
        if name.lowercased() == "get" {
            guard case .name(let topic) = current else { throw Failure(reason: "Get needs a name") }
            position += 1
            guard take([")"]) != nil else { throw Failure(reason: "missing )") }
            return .get(topic.lowercased())
        }
        if name.lowercased() == "let" { return try binding() }
        if name.lowercased() == "jsonsetelement" { return try jsonSetting() }
        guard let function = Formula.Function(rawValue: name.lowercased()) else {
            throw Failure(reason: "unknown function \(name)")
        }
        var arguments = [try disjunction()]
        while take([";"]) != nil { arguments.append(try disjunction()) }
        guard take([")"]) != nil else { throw Failure(reason: "missing )") }
        guard function.argumentCounts.contains(arguments.count) else {
            throw Failure(reason: "\(name) takes another number of arguments")
        }
        return .call(function, arguments)
    }

    /// `Let ( a = 1 ; a + 1 )`, `Let ( [ a = 1 ; b = a ] ; b )`
    private mutating func binding() throws -> Formula {
        let count = bound.count
        defer { bound.removeSubrange(count...) }
        let isList = take(["["]) != nil
        var bindings: [Formula.Binding] = []
        repeat {
            // A list may end with a semicolon.
            if isList, !bindings.isEmpty, case .symbol("]") = current { break }
            guard case .name(let name) = current else { throw Failure(reason: "Let needs a name") }
            position += 1
            guard take(["="]) != nil else { throw Failure(reason: "Let needs a value for \(name)") }
            bindings.append(Formula.Binding(name: name.lowercased(), value: try disjunction()))
            bound.append(name.lowercased())
        } while isList && take([";"]) != nil
        if isList { try expect("]") }
        try expect(";")
        let result = try disjunction()
        try expect(")")
        return .bind(bindings, result)
    }

    /// `JSONSetElement ( json ; path ; value ; kind )`, `JSONSetElement ( json ; [ path ; value ; kind ] ; … )`
    private mutating func jsonSetting() throws -> Formula {
        let json = try disjunction()
        var elements: [Formula.JSONElement] = []
        while take([";"]) != nil {
            let isList = take(["["]) != nil
            guard isList || elements.isEmpty else { throw Failure(reason: "missing [") }
            let path = try disjunction()
            try expect(";")
            let value = try disjunction()
            try expect(";")
            elements.append(Formula.JSONElement(path: path, value: value, kind: try disjunction()))
            guard isList else { break }
            try expect("]")
        }
        guard !elements.isEmpty else { throw Failure(reason: "JSONSetElement takes another number of arguments") }
        try expect(")")
        return .setJSON(json, elements)
    }

    private mutating func expect(_ symbol: String) throws {
        guard take([symbol]) != nil else { throw Failure(reason: "missing \(symbol)") }
    }

    private static func describe(_ token: Token) -> String {
        switch token {
        case .literal: "a literal"
        case .name(let name), .field(let name): name
        case .symbol(let symbol): symbol
        }
    }

    // MARK: Tokens

    private static func tokens(of text: String) throws -> [Token] {
        var tokens: [Token] = []
        var rest = text[...]
        while let character = rest.first {
            if character.isWhitespace {
                rest.removeFirst()
            } else if character == "\"" {
                tokens.append(.literal(try quoted(&rest)))
            } else if character.isNumber || (character == "." && rest.dropFirst().first?.isNumber == true) {
                let digits = rest.prefix { $0.isNumber || $0 == "." }
                rest = rest[digits.endIndex...]
                tokens.append(.literal(String(digits)))
            } else if rest.hasPrefix("${") {
                guard let end = rest.firstIndex(of: "}") else { throw Failure(reason: "missing }") }
                tokens.append(.field(String(rest.dropFirst(2)[..<end])))
                rest = rest[rest.index(after: end)...]
            } else if character == "¶" {
                rest.removeFirst()
                tokens.append(.literal("\r"))
            } else if isNameCharacter(character) {
                tokens.append(.name(name(&rest)))
            } else {
                let symbols = [
                    "<=", ">=", "<>", "≤", "≥", "≠", "<", ">", "=", "+", "-", "*", "/", "&", "(", ")", "[", "]", ";",
                ]
                guard let symbol = symbols.first(where: rest.hasPrefix) else {
                    throw Failure(reason: "unexpected \(character)")
                }
                rest = rest.dropFirst(symbol.count)
                tokens.append(.symbol(symbol))
            }
        }
        return tokens
    }

    private static func isNameCharacter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "$" || character == ":"
    }

    /// A name with the repetition that may follow a field directly: `Field[2]`.
    private static func name(_ rest: inout Substring) -> String {
        let name = rest.prefix(while: isNameCharacter)
        rest = rest[name.endIndex...]
        guard rest.first == "[", let end = rest.firstIndex(of: "]") else { return String(name) }
        let repetition = rest.dropFirst()[..<end]
        rest = rest[rest.index(after: end)...]
        return "\(name)(\(repetition.trimmingSpaces))"
    }

    private static func quoted(_ rest: inout Substring) throws -> String {
        var text = ""
        rest.removeFirst()
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                guard let next = rest.popFirst() else { throw Failure(reason: "unterminated text") }
                text.append(next)
            case "¶": text.append("\r")
            default: text.append(character)
            }
        }
        throw Failure(reason: "unterminated text")
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String { String(self).trimmed }
}
