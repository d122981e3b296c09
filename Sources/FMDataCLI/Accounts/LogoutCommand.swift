import ArgumentParser
import FMData
import Foundation

/// `fmdata logout`: ends the session that is kept for a profile.
struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Ends the kept sessions of a profile.",
        discussion: "The profile stays, unless --forget removes it together with its stored password."
    )

    @Argument(help: "The name of the profile (the default one).", completion: .profiles)
    var name: String?

    @Flag(help: "Remove the profile and its stored password as well.")
    var forget = false

    @OptionGroup(title: "What is said") var talk: TalkOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let folders = UserFolders(environment: environment)
        var profiles = try Profiles(contentsOf: folders.profiles)
        guard let name = name ?? environment["FMDATA_PROFILE"] ?? profiles.standard else {
            throw CommandError("There is no profile: fmdata login makes one.", .usage)
        }
        let profile = try profiles.named(name)
        if profile.user != nil { try await endSessions(of: name, folders, environment: environment) }
        guard forget else { return }
        try forget(name, profile, &profiles, folders)
    }

    private func endSessions(of name: String, _ folders: UserFolders, environment: [String: String]) async throws {
        var connection = try ConnectionOptions.parse([])
        connection.profile = name
        var found = try Place(connection, talk, environment: environment)
        found.tokens = folders.tokens
        let place = found
        try await HostVisit.make(at: place) { visit in
            var ended = 0
            // Commands may have named other databases than the profile does.
            for other in place.databasesOfKeptSessions().sorted() {
                let database = try await visit.open(other)
                _ = try await database.logOut().firstValue()
                ended += database.sessionStatus.logouts
            }
            await visit.notice(ended > 0 ? "The session of \"\(name)\" has ended." : "No session was kept.")
        }
    }

    private func forget(
        _ name: String,
        _ profile: Profile,
        _ profiles: inout Profiles,
        _ folders: UserFolders
    ) throws {
        profiles.byName[name] = nil
        if profiles.standard == name { profiles.standard = nil }
        try profiles.write(to: folders.profiles)
        var passwords = try StoredPasswords(folders.passwords, complain: note)
        try passwords.set(nil, of: name, host: profile.host, user: profile.user ?? "")
        if !talk.quiet { note("The profile \"\(name)\" is forgotten.") }
    }
}
