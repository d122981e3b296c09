/// Swift source text in the style of `swift format`: four spaces, and lines of up to 120 columns where they can be
/// broken.
struct SourceText {
    private(set) var text = ""
    private let access: AccessLevel
    private var depth = 0

    init(access: AccessLevel) { self.access = access }

    /// Writes a line.
    mutating func line(_ line: String = "") {
        text += (line.isEmpty ? "" : indentation + line) + "\n"
    }

    /// Writes a line, which is broken after its first part if it is too long.
    mutating func line(_ start: String, then rest: some StringProtocol) {
        guard (indentation + start).count + 1 + rest.count > 120 else { return line("\(start) \(rest)") }
        line(start)
        indented { $0.line(String(rest)) }
    }

    /// Writes a call, with its arguments on separate lines if they do not fit on one.
    mutating func call(_ function: String, _ arguments: [String]) {
        let whole = "\(function)(\(arguments.joined(separator: ", ")))"
        guard (indentation + whole).count > 120 else { return line(whole) }
        line("\(function)(")
        indented { text in
            for (position, argument) in arguments.enumerated() {
                let end = position == arguments.count - 1 ? "" : ","
                guard let colon = argument.firstRange(of: ": ") else {
                    text.line(argument + end)
                    continue
                }
                text.line("\(argument[..<colon.lowerBound]):", then: argument[colon.upperBound...] + end)
            }
        }
        line(")")
    }

    /// Writes an array, with its elements on separate lines if they do not fit on one.
    mutating func list(_ elements: [String]) {
        let whole = "[\(elements.joined(separator: ", "))]"
        guard (indentation + whole).count > 120 else { return line(whole) }
        line("[")
        indented { text in for element in elements { text.line(element + ",") } }
        line("]")
    }

    /// Writes a declaration with its access modifier.
    mutating func declaration(_ line: String) { self.line(access.modifier + line) }

    /// Writes a declaration that ends with a call.
    mutating func declaration(_ function: String, _ arguments: [String]) {
        call(access.modifier + function, arguments)
    }

    /// Writes a documentation comment.
    mutating func comment(_ lines: String...) {
        for line in lines { self.line(line.isEmpty ? "///" : "/// \(line)") }
    }

    /// Writes a declaration with a body.
    mutating func block(_ head: String, _ body: (inout SourceText) -> Void) {
        line(access.modifier + head + " {")
        indented(body)
        line("}")
    }

    /// Writes a statement with a body.
    mutating func statement(_ head: String, _ body: (inout SourceText) -> Void) {
        line(head + " {")
        indented(body)
        line("}")
    }

    private mutating func indented(_ body: (inout SourceText) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    private var indentation: String { String(repeating: "    ", count: depth) }
}
