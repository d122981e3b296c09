import Foundation

/// The manual of all commands, as an article of DocC, made from their help.
struct ReferencePage {
    private let root: CommandHelp

    /// - Parameter root: The help of `fmdata`.
    init(_ root: CommandHelp) { self.root = root }

    /// The article.
    var text: String {
        let content = ManualContent(root)
        var page = ReferenceText()
        page.paragraph("# The commands of \(root.commandName)")
        page.paragraph("All commands with their arguments and options, made from the help of the commands.")
        page.paragraph("## Overview")
        page.paragraph("<doc:CommandLine> shows them at work. `fmdata manual` prints the same as a page for `man`.")
        page.paragraph("## Commands")
        for command in content.commands { describe(command, &page) }
        page.paragraph("## Options of several commands")
        for (title, arguments) in content.sharedSections {
            page.paragraph("### \(ReferenceText.escaped(title))")
            page.list(arguments)
        }
        return page.text
    }

    private func describe(_ command: ManualContent.Command, _ page: inout ReferenceText) {
        let words = command.positional.map { argument in
            let word = (argument.valueName ?? "") + (argument.isRepeating ? " ..." : "")
            return argument.isOptional ? "[\(word)]" : word
        }
        page.paragraph("### \(command.name)")
        page.paragraph("`\(([command.name] + words + ["[options]"]).joined(separator: " "))`")
        page.blocks(command.description)
        page.list(command.own)
        if !command.sections.isEmpty {
            page.paragraph("It also has the options of: \(command.sections.joined(separator: ", ")).")
        }
    }
}

/// A text in Markdown, under construction.
private struct ReferenceText {
    private(set) var text = ""

    /// Markdown, after an empty line.
    mutating func paragraph(_ markdown: String) { text += (text.isEmpty ? "" : "\n") + markdown + "\n" }

    /// A text of the help: paragraphs between empty lines. Lines that are aligned by spaces stay as they are.
    mutating func blocks(_ help: String, indentation: String = "") {
        for block in Self.blocks(of: help) {
            switch block {
            case .words(let words): paragraph(indentation + Self.escaped(words))
            case .aligned(let lines):
                paragraph(lines.map { indentation + "    " + $0 }.joined(separator: "\n"))
            }
        }
    }

    mutating func list(_ arguments: [CommandHelp.Argument]) {
        guard !arguments.isEmpty else { return }
        text += "\n"
        for argument in arguments {
            let names = (argument.names ?? []).map { "`\($0.spelling)`" }.joined(separator: ", ")
            let value = argument.kind == .flag ? "" : argument.valueName ?? ""
            let sign = names.isEmpty ? "`\(value)`" : names + (value.isEmpty ? "" : " *\(Self.escaped(value))*")
            text += "- \(sign): \(Self.escaped(argument.abstract ?? ""))\n"
            if let discussion = argument.discussion, !discussion.isEmpty {
                blocks(discussion, indentation: "  ")
                text += "\n"
            }
        }
    }

    private enum Block {
        case words(String)
        case aligned([String])
    }

    private static func blocks(of help: String) -> [Block] {
        var blocks: [Block] = []
        for part in help.components(separatedBy: "\n\n") {
            var isNew = true
            for line in part.split(separator: "\n").map(String.init) {
                defer { isNew = false }
                switch (line.contains("   "), isNew ? nil : blocks.last) {
                case (true, .aligned(let lines)?): blocks[blocks.count - 1] = .aligned(lines + [line])
                case (true, _): blocks.append(.aligned([line]))
                case (false, .words(let words)?): blocks[blocks.count - 1] = .words(words + "\n" + line)
                case (false, _): blocks.append(.words(line))
                }
            }
        }
        return blocks
    }

    /// The text without anything that Markdown would act on.
    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            if "\\`*_[]<>#|~".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
    }
}
