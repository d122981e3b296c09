import Foundation

/// The manual of all commands, as a page for `man`, made from their help.
struct ManualPage {
    private let root: CommandHelp
    private let version: String

    init(_ root: CommandHelp, version: String) {
        self.root = root
        self.version = version
    }

    /// The page in the macros of man(7).
    var text: String {
        let name = root.commandName
        var page = ManualText()
        page.macro("TH", name.uppercased(), "1", "", "\(name) \(version)", "User Commands")
        page.macro("SH", "NAME")
        page.line("\(name) \\- \(ManualText.escaped(root.abstract ?? ""))")
        page.macro("SH", "SYNOPSIS")
        page.line("\(ManualText.bold(name)) \(ManualText.italic("command")) [\(ManualText.italic("arguments"))]")
        page.macro("SH", "DESCRIPTION")
        page.paragraphs("Data goes to standard output, everything else to standard error.")
        page.macro("SH", "COMMANDS")
        let content = ManualContent(root)
        for command in content.commands { describe(command, &page) }
        page.macro("SH", "OPTIONS OF SEVERAL COMMANDS")
        for (title, arguments) in content.sharedSections {
            page.macro("SS", title)
            for argument in arguments { page.describe(argument) }
        }
        page.macro("SH", "EXIT STATUS")
        for status in ExitStatus.allCases { page.item(ManualText.bold("\(status.rawValue)"), status.meaning) }
        page.macro("SH", "ENVIRONMENT")
        for variable in CommandVariable.all { page.item(ManualText.bold(variable.names), variable.meaning) }
        page.macro("SH", "FILES")
        for file in CommandVariable.files { page.item(ManualText.italic(file.names), file.meaning) }
        return page.text
    }

    private func describe(_ command: ManualContent.Command, _ page: inout ManualText) {
        let words = command.positional.map { argument in
            let word = ManualText.italic(argument.valueName ?? "") + (argument.isRepeating ? " ..." : "")
            return argument.isOptional ? "[\(word)]" : word
        }
        page.macro("SS", command.name)
        page.line(([ManualText.bold(command.name)] + words + ["[options]"]).joined(separator: " "))
        page.paragraphs(command.description)
        for argument in command.own { page.describe(argument) }
        if !command.sections.isEmpty {
            page.paragraphs("It also has the options of: \(command.sections.joined(separator: ", ")).")
        }
    }
}

/// A text in the macros of man(7), under construction.
private struct ManualText {
    private(set) var text = ""

    mutating func line(_ line: String) { text += line + "\n" }

    mutating func macro(_ name: String, _ arguments: String...) {
        let words = arguments.map { "\"\(Self.escaped($0).replacing("\"", with: "\\(dq"))\"" }
        line(([".\(name)"] + words).joined(separator: " "))
    }

    /// A text of the help: paragraphs between empty lines; lines that are aligned by spaces stay lines.
    mutating func paragraphs(_ text: String) {
        line(".PP")
        lines(of: text, between: ".PP")
    }

    private mutating func lines(of text: String, between separator: String) {
        for (index, paragraph) in text.components(separatedBy: "\n\n").enumerated() {
            if index > 0 { line(separator) }
            for words in paragraph.split(separator: "\n") {
                let isAligned = words.contains("   ")
                if isAligned { line(".nf") }
                line(Self.guarded(Self.escaped(String(words))))
                if isAligned { line(".fi") }
            }
        }
    }

    /// - Parameter tag: what is described, escaped already.
    mutating func item(_ tag: String, _ description: String) {
        line(".TP")
        line(tag)
        lines(of: description, between: ".IP")
    }

    mutating func describe(_ argument: CommandHelp.Argument) {
        let value = argument.kind == .flag ? "" : Self.italic(argument.valueName ?? "")
        let names = (argument.names ?? []).map { Self.bold($0.spelling) }.joined(separator: ", ")
        item(
            [names, value].filter { !$0.isEmpty }.joined(separator: " "),
            [argument.abstract, argument.discussion].compactMap(\.self).joined(separator: "\n\n")
        )
    }

    static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

    static func italic(_ text: String) -> String { "\\fI\(escaped(text))\\fR" }

    /// The text without anything that `man` would act on, but for a sign at the beginning of a line.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "`": escaped += "\\(ga"
            case "'": escaped += "\\(aq"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            // Formatters differ in the encoding that they expect.
            case _ where !scalar.isASCII: escaped += "\\[u\(digits(scalar))]"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    /// The number of a character with four digits or more, as formatters want it.
    private static func digits(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private static func guarded(_ line: String) -> String { line.hasPrefix(".") ? "\\&" + line : line }
}
