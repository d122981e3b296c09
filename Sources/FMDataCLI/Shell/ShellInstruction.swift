import Foundation

/// What a line of the shell asks for.
enum ShellInstruction: Equatable {
    case nothing
    /// Commands, each as its words.
    case commands([[String]])
    /// `\x`: one field per line in tables, or no longer; nil is the other one.
    case expanded(Bool?)
    /// `\timing`: how long commands take.
    case timing(Bool?)
    /// `\watch`: the last command again and again, with a pause of seconds.
    case watch(Double)
    case history
    case help
    case quit

    /// Reads a line without open quotes. Throws if it begins with a backslash and is nothing that the shell knows.
    init(_ line: String) throws(CommandError) {
        let words = ShellWords(line)
        guard let first = words.words.first, line[first.start] != "#" else {
            self = .nothing
            return
        }
        guard line[first.start] == "\\" else {
            // The page of the command line has the name of the program before each command.
            let texts = words.texts.first == "fmdata" ? Array(words.texts.dropFirst()) : words.texts
            switch texts {
            case ["quit"], ["exit"]: self = .quit
            case []: self = .nothing
            default: self = .commands([texts])
            }
            return
        }
        // The backslash would make the letter behind it stand for itself.
        let parts = ShellWords(String(line[first.start...].dropFirst())).texts
        guard let name = parts.first else { throw Self.unknown("") }
        let arguments = Array(parts.dropFirst())
        switch (name, arguments.count) {
        case ("d", 0): self = .commands([["layouts"]])
        case ("d", 1): self = .commands([["fields", arguments[0]], ["portals", arguments[0]]])
        case ("df", 0): self = .commands([["scripts"]])
        case ("l", 0): self = .commands([["databases"]])
        case ("x", 0...1): self = .expanded(try Self.isOn(arguments.first, name))
        case ("timing", 0...1): self = .timing(try Self.isOn(arguments.first, name))
        case ("watch", 0...1): self = .watch(try Self.seconds(arguments.first ?? "2"))
        case ("s", 0): self = .history
        case ("?", 0): self = .help
        case ("q", 0): self = .quit
        case _ where Self.names.contains(name):
            throw CommandError(#"\\#(name) has another form: \? shows it. A name with spaces needs quotes."#, .usage)
        default: throw Self.unknown(name)
        }
    }

    /// Whether a line is for the shell itself, or a remark. A quote in it does not go on in the next line.
    static func isOne(_ line: String) -> Bool { line.first { $0 != " " }.map { "\\#".contains($0) } ?? false }

    /// The instructions that begin with a backslash, as they are typed.
    static let typed = names.map { "\\" + $0 }

    private static let names = ["?", "d", "df", "l", "q", "s", "timing", "watch", "x"]

    private static func unknown(_ name: String) -> CommandError {
        CommandError(#"There is no \\#(name): \? shows what there is."#, .usage)
    }

    private static func isOn(_ word: String?, _ name: String) throws(CommandError) -> Bool? {
        switch word {
        case nil: return nil
        case "on": return true
        case "off": return false
        default: throw CommandError(#"\\#(name) takes on or off, or nothing."#, .usage)
        }
    }

    private static func seconds(_ word: String) throws(CommandError) -> Double {
        guard let seconds = Double(word), (0...86_400).contains(seconds) else {
            throw CommandError(#"\watch takes seconds, up to a day."#, .usage)
        }
        return seconds
    }

    /// What `\?` prints of the instructions.
    static let summary = #"""
        \d               layouts                    \d LAYOUT  fields and portals of a layout
        \df              scripts                    \l         databases
        \x [on|off]      one field per line         \timing    how long each command takes
        \watch [SECONDS] the last command that reads, again and again until Ctrl-C
        \s               what was typed; !! repeats the last line, !7 the seventh
        \q               ends the shell, as Ctrl-D does
        help             the commands               find --help  one of them

        Spaces separate words; 'a b' and "a b" are one. Tab completes names. Ctrl-C ends a command.
        """#
}
