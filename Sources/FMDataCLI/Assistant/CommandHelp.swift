import ArgumentParser
import Foundation

/// What the commands say of themselves: the help of a command, its arguments and its subcommands as data. The tools of
/// an assistant are made from it.
struct CommandHelp: Decodable, Equatable {
    var commandName: String
    var abstract: String?
    var discussion: String?
    var shouldDisplay: Bool
    var subcommands: [CommandHelp]
    var arguments: [Argument]

    struct Argument: Decodable, Equatable {
        enum Kind: String, Decodable {
            case positional, option, flag
        }

        struct Name: Decodable, Equatable {
            enum Kind: String, Decodable {
                case long, short, longWithSingleDash
            }

            var kind: Kind
            var name: String
        }

        var kind: Kind
        var shouldDisplay: Bool
        var preferredName: Name?
        var valueName: String?
        var abstract: String?
        var discussion: String?
    }

    private enum CodingKeys: CodingKey {
        case commandName, abstract, discussion, shouldDisplay, subcommands, arguments
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        commandName = try container.decode(String.self, forKey: .commandName)
        abstract = try container.decodeIfPresent(String.self, forKey: .abstract)
        discussion = try container.decodeIfPresent(String.self, forKey: .discussion)
        shouldDisplay = try container.decode(Bool.self, forKey: .shouldDisplay)
        subcommands = try container.decodeIfPresent([CommandHelp].self, forKey: .subcommands) ?? []
        arguments = try container.decodeIfPresent([Argument].self, forKey: .arguments) ?? []
    }

    /// The help of a command.
    init(of command: any ParsableCommand.Type) throws {
        struct Root: Decodable {
            var command: CommandHelp
        }
        // What `--experimental-dump-help` prints.
        self = try JSONDecoder().decode(Root.self, from: Data(command._dumpHelp().utf8)).command
    }
}

extension CommandHelp {
    /// The argument of a name: `--sort`, or the name of the value of a positional one.
    func argument(_ name: String) -> Argument? {
        arguments.first { $0.preferredName?.spelling == name || $0.kind == .positional && $0.valueName == name }
    }
}

extension CommandHelp.Argument.Name {
    /// The name as it is typed: `--sort`, `-x`.
    var spelling: String { kind == .long ? "--\(name)" : "-\(name)" }
}
