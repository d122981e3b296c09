import ArgumentParser
import FMData
import Foundation

/// `fmdata logout`: ends the session that is kept for a profile.
struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Ends the kept session of a profile.",
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
        if profile.database != nil, profile.user != nil { try await endSession(of: name) }
        guard forget else { return }
        try forget(name, profile, &profiles, folders)
    }

    private func endSession(of name: String) async throws {
        var connection = try ConnectionOptions.parse([])
        connection.profile = name
        try await HostVisit.make(with: connection, talk) { visit in
            let database = try await visit.open()
            _ = try await database.logOut().firstValue()
            let hadSession = database.sessionStatus.logouts > 0
            await visit.notice(hadSession ? "The session of \"\(name)\" has ended." : "No session was kept.")
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
