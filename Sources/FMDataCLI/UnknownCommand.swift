import ArgumentParser
import FMSandbox

/// A word that stands where a command is to stand, and is none.
struct UnknownCommand: CustomStringConvertible {
    let word: String
    /// The command whose subcommand it was to be.
    let place: any ParsableCommand.Type

    /// The first one of some arguments; nil when there is none.
    init?(in arguments: some Sequence<String>, of root: any ParsableCommand.Type) {
        var place = root
        for word in arguments {
            let commands = place.configuration.subcommands
            // Options of a command that has no subcommands, and what ArgumentParser adds to every one that has.
            guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            guard let command = commands.first(where: { $0.configuration.commandName == word }) else {
                self.word = word
                self.place = place
                return
            }
            place = command
        }
        return nil
    }

    /// What is wrong, and which one may have been meant.
    var description: String {
        let names = place.configuration.subcommands.compactMap { $0.configuration.commandName }
        let advice =
            names.nearest(to: word).map { "Did you mean '\($0)'?" } ?? "Commands are: \(names.joined(separator: ", "))."
        return "Unknown command '\(word)'. \(advice)"
    }
}
