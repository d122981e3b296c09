/// What a manual has to say: the commands, and the options that several of them have, each described once.
struct ManualContent {
    /// A command that does something: one without subcommands.
    struct Command {
        /// Its words: `fmdata container get`.
        let name: String
        /// What it does.
        let description: String
        /// The arguments that only it has, or that belong to no section.
        let own: [CommandHelp.Argument]
        /// The titles of the shared sections whose options it has.
        let sections: [String]

        /// The arguments that have no name.
        var positional: [CommandHelp.Argument] { own.filter { $0.kind == .positional } }
    }

    typealias Section = (title: String, arguments: [CommandHelp.Argument])

    let commands: [Command]
    let sharedSections: [Section]

    /// - Parameter root: The help of `fmdata`.
    init(_ root: CommandHelp) {
        let leaves = root.shownCommands.flatMap { Self.leaves(of: $0, path: [root.commandName]) }
        let shared = Self.sharedSections(of: leaves.map(\.help))
        sharedSections = shared
        commands = leaves.map { path, help in
            let titles = Self.sections(of: help).map(\.title).filter { title in
                shared.contains { $0.title == title }
            }
            return Command(
                name: path.joined(separator: " "),
                description: [help.abstract, help.discussion].compactMap(\.self).joined(separator: "\n\n"),
                own: help.shownArguments.filter { !titles.contains($0.sectionTitle ?? "") },
                sections: titles
            )
        }
    }

    private static func leaves(of help: CommandHelp, path: [String]) -> [(path: [String], help: CommandHelp)] {
        let path = path + [help.commandName]
        let subcommands = help.shownCommands
        return subcommands.isEmpty ? [(path, help)] : subcommands.flatMap { leaves(of: $0, path: path) }
    }

    /// The titled sections of arguments that several commands have.
    private static func sharedSections(of commands: [CommandHelp]) -> [Section] {
        var sections: [(section: Section, count: Int)] = []
        for command in commands {
            for section in Self.sections(of: command) {
                if let index = sections.firstIndex(where: { $0.section.title == section.title }) {
                    sections[index].count += 1
                    let known = sections[index].section.arguments
                    sections[index].section.arguments += section.arguments.filter { !known.contains($0) }
                } else {
                    sections.append((section, 1))
                }
            }
        }
        return sections.filter { $0.count > 1 }.map(\.section)
    }

    private static func sections(of command: CommandHelp) -> [Section] {
        var sections: [Section] = []
        for argument in command.shownArguments {
            guard let title = argument.sectionTitle else { continue }
            if let index = sections.firstIndex(where: { $0.title == title }) {
                sections[index].arguments.append(argument)
            } else {
                sections.append((title, [argument]))
            }
        }
        return sections
    }
}
