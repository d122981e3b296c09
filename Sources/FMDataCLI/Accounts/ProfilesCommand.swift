import ArgumentParser
import FMData
import Foundation

/// `fmdata profiles`: the profiles of the user.
struct ProfilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles",
        abstract: "Lists the profiles that fmdata login has made."
    )

    @OptionGroup var output: OutputOptions

    func run() throws {
        let folders = UserFolders(environment: ProcessInfo.processInfo.environment)
        let profiles = try Profiles(contentsOf: folders.profiles)
        let passwords = try StoredPasswords(folders.passwords, complain: note)
        let columns = ["profile", "host", "database", "user", "password", "default"].map { OutputColumn($0) }
        let rows = profiles.byName.sorted { $0.key < $1.key }.map { name, profile in
            let stored = passwords.password(of: name, host: profile.host, user: profile.user ?? "")
            let password = profile.passwordSource?.name ?? (stored == nil ? nil : "stored")
            let isDefault = profiles.standard == name
            return OutputRow(
                cells: [
                    name, profile.host, profile.database ?? "", profile.user ?? "", password ?? "",
                    isDefault ? "default" : "",
                ],
                object: [
                    "profile": .text(name), "host": .text(profile.host),
                    "database": profile.database.map(OutputValue.text), "user": profile.user.map(OutputValue.text),
                    "password": password.map(OutputValue.text), "default": .bool(isDefault),
                ]
            )
        }
        try RowPrinter(columns, output).printAll(rows)
    }
}
