import ArgumentParser
import FMSandbox

/// A word in the place of a command that is not a known command.
struct UnknownCommand: CustomStringConvertible {
    let word: String
    /// The command that has no such subcommand.
    let place: any ParsableCommand.Type

    /// Finds the first unknown command in the arguments; nil if there is none.
    init?(in arguments: some Sequence<String>, of root: any ParsableCommand.Type) {
        var place = root
        for word in arguments {
            let commands = place.configuration.subcommands
            // Options and arguments of a command without subcommands end the search. ArgumentParser adds `help`, and
            // takes unknown words behind it for none.
            guard !commands.isEmpty, !word.hasPrefix("-") else { return nil }
            if word == "help" { continue }
            guard let command = commands.first(where: { $0.configuration.commandName == word }) else {
                self.word = word
                self.place = place
                return
            }
            place = command
        }
        return nil
    }

    /// The error, with the nearest known command or the list of commands.
    var description: String {
        let names = place.configuration.subcommands.filter { $0.configuration.shouldDisplay }.compactMap {
            $0.configuration.commandName
        }
        let advice =
            names.nearest(to: word).map { "Did you mean '\($0)'?" } ?? "Commands are: \(names.joined(separator: ", "))."
        return "Unknown command '\(word)'. \(advice)"
    }
}
