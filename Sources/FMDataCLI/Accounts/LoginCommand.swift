import ArgumentParser
import FMData
import Foundation

/// `fmdata login`: verifies an account, and makes a profile of it, whose session is kept from command to command.
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Verifies an account, and makes a profile of it.",
        discussion: """
            Other commands then need no option and no login: the session stays open between them, until it has not been used for \
            15 minutes. What is missing is asked for at a terminal. The profile is written to fmdata/config.json in \
            $XDG_CONFIG_HOME or ~/.config, and holds no password: that comes from FM_PASSWORD, from the program or the file that \
            the profile names, from credentials.json beside it with --save-password, or from the terminal. The token of the \
            session is kept in fmdata/sessions.json in $XDG_RUNTIME_DIR or ~/.local/state, which only you can read.
            """
    )

    @Argument(help: "The name of the profile (the database's).")
    var name: String?

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions

    @Flag(help: "Only verify: write nothing, and keep no session.")
    var check = false

    @Flag(help: "Make it the default profile. The first one is that anyway.")
    var `default` = false

    @Flag(help: "Store the password in a file that only you can read.")
    var savePassword = false

    @Flag(help: "From now on accept only the key that the host's certificate has now.")
    var pin = false

    @Flag(help: "With this profile, end the session with each command.")
    var endSessions = false

    @Option(
        parsing: .remaining,
        help: ArgumentHelp(
            "Take the password from what this program prints. Its arguments follow, so this option stands last.",
            valueName: "program"
        )
    )
    var passwordCommand: [String] = []

    func validate() throws {
        if savePassword, !passwordCommand.isEmpty {
            throw ValidationError("--save-password and --password-command exclude each other.")
        }
    }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let folders = UserFolders(environment: environment)
        let profiles = try Profiles(contentsOf: folders.profiles)
        let place = try await place(profiles, folders, environment: environment)
        try await HostVisit.make(at: place) { visit in
            let database = try await visit.open()
            // A session that an earlier command has kept would hide a wrong password.
            if place.tokens != nil { _ = await database.logOut().awaitSingleResult() }
            let count = try await database.layoutNames().firstValue().count { !ListTree.isLine($0) }
            let account = try "\(place.knownUser) on \(place.knownHost)"
            if check { return place.notice("\(account) opens \(database.name) and sees \(count) layouts.") }
            let name = name ?? place.profile ?? database.name
            let password = savePassword ? try await place.knownPassword() : nil
            try store(place, password, as: name, in: profiles, folders)
            place.notice("Logged in as \(account), profile \"\(name)\": \(database.name) with \(count) layouts.")
            for pin in place.pins where self.pin { place.notice("From now on only the key \(pin) is accepted.") }
        }
    }

    /// Where to log in and as whom; asks at a terminal for what is not known.
    private func place(
        _ profiles: Profiles,
        _ folders: UserFolders,
        environment: [String: String]
    ) async throws -> Place {
        var connection = connection
        if connection.profile == nil, let name, profiles.byName[name] != nil { connection.profile = name }
        var place = try Place(connection, talk, environment: environment)
        if TerminalPrompt.isPossible(environment: environment) {
            if place.host == nil { connection.host = try await TerminalPrompt.ask("Host: ", echo: true) }
            if place.database == nil { connection.database = try await TerminalPrompt.ask("Database: ", echo: true) }
            if place.user == nil { connection.user = try await TerminalPrompt.ask("Account: ", echo: true) }
            place = try Place(connection, talk, environment: environment)
        }
        if !passwordCommand.isEmpty { place.password = PasswordReader(.command(passwordCommand)) }
        place.tokens = check || endSessions ? nil : folders.tokens
        place.notesSessions = !check
        if pin { place.pins = [try await Self.presentedPin(at: place)] }
        return place
    }

    /// - Parameter password: The password to store; nil for none.
    private func store(
        _ place: Place,
        _ password: String?,
        as name: String,
        in profiles: Profiles,
        _ folders: UserFolders
    ) throws {
        let (host, user) = try (place.knownHost, place.knownUser)
        var profile = profiles.byName[name] ?? Profile(host: host)
        (profile.host, profile.database, profile.user) = (host, place.database, user)
        profile.ca = place.ca.map(Self.absolute)
        profile.pins = place.pins.isEmpty ? nil : place.pins
        profile.keepSession = endSessions ? false : nil
        if !passwordCommand.isEmpty || connection.passwordFile != nil || savePassword {
            profile.passwordCommand = passwordCommand.isEmpty ? nil : passwordCommand
            profile.passwordFile = savePassword ? nil : connection.passwordFile.map(Self.absolute)
        }
        var profiles = profiles
        profiles.byName[name] = profile
        if self.default || profiles.standard == nil { profiles.standard = name }
        try profiles.write(to: folders.profiles)
        var passwords = try StoredPasswords(folders.passwords, complain: note)
        if password != nil || profile.passwordSource != nil {
            try passwords.set(password, of: name, host: host, user: user)
        }
    }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    /// The key of the host's certificate. A connection that accepts another key only is refused with it.
    private static func presentedPin(at place: Place) async throws -> String {
        let nobodys = Data(repeating: 0, count: 32).base64EncodedString()
        let server = try place.server { $0.tls.pinnedPublicKeys = [nobodys] }
        let answer = await server.getProductInfo().awaitSingleResult()
        _ = await server.shutdown().awaitSingleResult()
        switch answer {
        case .success: throw CommandError("--pin needs HTTPS: this host shows no certificate.", .usage)
        case .failure(let error):
            guard error.transportError?.code == .certificatePinMismatch,
                let pin = error.transportError?.underlying?.firstMatch(of: #/"([A-Za-z0-9+\/]{43}=)"/#)
            else { throw error }
            return String(pin.1)
        }
    }
}
