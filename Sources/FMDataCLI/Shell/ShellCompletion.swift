/// What Tab asks for: which names may stand where the line ends.
struct ShellCompletion: Equatable {
    enum Kind: Equatable {
        /// These words.
        case words([String])
        case layouts
        case scripts
        /// The fields of a layout, each with a sign behind it.
        case fields(layout: String, sign: String)
        case nothing
    }

    /// The line after a completion.
    struct Result: Equatable {
        var line: String
        /// What may be meant, if the line could not be completed any further.
        var candidates: [String] = []
    }

    private(set) var kind = Kind.nothing
    private let line: String
    /// Where the last word begins.
    private let start: String.Index
    /// What stands in the last word before the name: `--sort=-`, or the names before a comma.
    private var prefix = ""
    /// What was typed of the name.
    private var typed: String
    private var isList = false

    /// - Parameter help: The help of the commands of the shell.
    init(of line: String, _ help: CommandHelp) {
        let words = ShellWords(line)
        self.line = line
        let last = words.endsInWord ? words.words.last : nil
        start = last?.start ?? line.endIndex
        typed = last?.text ?? ""
        let isInstruction = words.words.first.map { line[$0.start] == "\\" } ?? false
        if isInstruction {
            complete(instruction: words, isFirst: words.words.count == 1 && last != nil)
        } else {
            let before = last == nil ? words.texts : Array(words.texts.dropLast())
            complete(command: before.first == "fmdata" ? Array(before.dropFirst()) : before, help)
        }
    }

    private mutating func complete(instruction words: ShellWords, isFirst: Bool) {
        if isFirst {
            // Alone, the backslash stands for itself.
            if typed != "\\" { typed = "\\" + typed }
            kind = .words(ShellInstruction.typed)
        } else if words.texts.first == "d" {
            kind = .layouts
        }
    }

    private mutating func complete(command words: [String], _ help: CommandHelp) {
        var help = help
        var words = words[...]
        while let command = help.shownCommands.first(where: { $0.commandName == words.first }) {
            help = command
            words = words.dropFirst()
        }
        guard help.shownCommands.isEmpty else {
            if words.isEmpty { kind = .words(help.shownCommands.map(\.commandName)) }
            return
        }
        let positional = help.shownArguments.filter { $0.kind == .positional }
        func argument(at place: Int) -> CommandHelp.Argument? {
            positional.indices.contains(place)
                ? positional[place] : positional.last.flatMap { $0.isRepeating ? $0 : nil }
        }
        var place = 0
        var layout = ""
        var option: CommandHelp.Argument?
        for word in words {
            if option != nil {
                option = nil
            } else if word.hasPrefix("-"), word.count > 1 {
                option = help.shownArguments.first { $0.kind == .option && $0.isNamed(word) }
            } else {
                if argument(at: place)?.valueName == "layout" { layout = word }
                place += 1
            }
        }
        if let option {
            complete(value: option.preferredName?.name ?? "", layout)
        } else if typed.hasPrefix("--"), let sign = typed.firstIndex(of: "=") {
            let name = typed[..<sign].dropFirst(2)
            take(prefix: typed[...sign])
            complete(value: String(name), layout)
        } else if typed.hasPrefix("-") {
            let groups = positional.contains { $0.valueName == "condition" } ? ["--omit", "--or"] : []
            kind = .words(help.shownArguments.flatMap { $0.names ?? [] }.map(\.spelling) + groups)
        } else {
            complete(positional: argument(at: place)?.valueName ?? "", layout)
        }
    }

    private mutating func complete(positional name: String, _ layout: String) {
        switch name {
        case "layout": kind = .layouts
        case "script": kind = .scripts
        case "field": kind = .fields(layout: layout, sign: "")
        case "condition", "field=value": kind = .fields(layout: layout, sign: "=")
        default: break
        }
    }

    private mutating func complete(value option: String, _ layout: String) {
        switch option {
        case "sort", "fields":
            if let comma = typed.lastIndex(of: ",") { take(prefix: typed[...comma]) }
            if option == "sort", let sign = typed.first, "+-".contains(sign) { take(prefix: typed.prefix(1)) }
            isList = true
            kind = .fields(layout: layout, sign: "")
        case "key", "field": kind = .fields(layout: layout, sign: "")
        default: break
        }
    }

    private mutating func take(prefix part: Substring) {
        prefix += part
        typed = String(typed.dropFirst(part.count))
    }

    /// The line with what all names have in common that may be meant. Names are found whatever their case.
    func result(from names: [String]) -> Result {
        let names = Set(names).filter { $0.lowercased().hasPrefix(typed.lowercased()) }.sorted()
        guard let first = names.first else { return Result(line: line) }
        let common = names.reduce(first) { common, name in
            String(zip(common, name).prefix { $0 == $1 }.map(\.0))
        }
        guard names.count > 1 else {
            return completed(to: first, behind: isList || first.hasSuffix("=") ? "" : " ")
        }
        // The names may differ in the case of what was typed.
        return common.count > typed.count ? completed(to: common, behind: "") : Result(line: line, candidates: names)
    }

    private func completed(to name: String, behind: String) -> Result {
        // A backslash at the beginning is no quote.
        let word = name.hasPrefix("\\") ? name : ShellWords.quoted(prefix + name)
        return Result(line: line[..<start] + word + behind)
    }
}

extension CommandHelp.Argument {
    /// Whether a word of a line is the name of the argument, without a value behind a sign.
    fileprivate func isNamed(_ word: String) -> Bool { (names ?? []).contains { $0.spelling == word } }
}
