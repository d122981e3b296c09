import ArgumentParser
import FMData
import FMModel
import Foundation
import Logging
import OpenCombine

/// The host, the database and the account of a command: what its options say, else the environment, else a profile.
///
/// The profile that is named (`--profile`, or `FMDATA_PROFILE`) precedes the environment. The default profile is left
/// out when another host is named. A password never goes to another host or account than it was given for.
struct Place: Sendable {
    let host: String?
    let database: String?
    let user: String?
    let ca: String?
    var pins: [String]
    /// The name of the profile that was used; nil for none.
    let profile: String?
    /// The password; nil if no source of it is known.
    var password: PasswordReader?
    /// The file in which the session is kept for the next command; nil if the command ends it.
    var tokens: URL?
    /// Why the environment's password or key is not used; nil if it is, or if there is none.
    private let withheld: String?
    /// Whether the user keeps files of the command: those of a profile whose session is kept do.
    let keepsFiles: Bool
    /// Whether a session that the command ends is noted, so that the next one ends it after a kill.
    var notesSessions = true
    /// The variables of the environment that the library reads itself: limits, the root path, a key.
    private let settings: [String: String]
    /// The logger of the library; nil for none.
    private let logger: Logger?
    /// Whether nothing but errors is said.
    let isQuiet: Bool
    /// Where each part comes from, for `--verbose`.
    let origins: [String]
    /// Where the host comes from, as the beginning of a sentence about it.
    private let hostOrigin: String

    /// - Parameters:
    ///   - talk: what is said beside the data; nil for notices alone.
    ///   - complain: is told why a file is not used.
    init(
        _ options: ConnectionOptions,
        _ talk: TalkOptions? = nil,
        environment: [String: String],
        complain: (String) -> Void = note
    ) throws {
        let folders = UserFolders(environment: environment)
        let profiles = try Profiles(contentsOf: folders.profiles)
        let sources = try PlaceSources(options, environment, profiles)
        var origins: [String] = []
        func value(_ name: String, _ option: String?, _ ofProfile: KeyPath<Profile, String?>) -> String? {
            guard let (value, origin) = sources.value(name, option, ofProfile) else { return nil }
            origins.append("\(name) from \(origin)")
            return value
        }
        let host = value("host", options.host, \.knownHost)
        let database = value("database", options.database, \.database)
        let user = value("user", options.user, \.user)
        let ca = sources.isEnvironmentOf(host) ? value("ca", options.ca, \.ca) : options.ca ?? sources.profile?.ca

        let stored = try sources.password(host: host, user: user) { profile in
            try StoredPasswords(folders.passwords, complain: complain)
                .password(of: profile, host: host ?? "", user: user ?? "")
                .map { .known($0, from: folders.passwords.url.path) }
        }
        let password =
            try stored ?? NetrcFile.password(host: host, user: user, in: folders.netrc, complain: complain)
            ?? sources.prompt(host: host, user: user)
        if let password { origins.append("password from \(password.name)") }
        (self.host, self.database, self.user, self.ca) = (host, database, user, ca)
        self.password = password.map(PasswordReader.init)

        let isProfiles = sources.isProfileOf(host, user)
        profile = sources.profileName
        pins = sources.profile?.host == host ? sources.profile?.pins ?? [] : []
        withheld = sources.withheld(host: host, user: user)
        keepsFiles = isProfiles && sources.profile?.keepSession != false
        // A kept session would hide that a password is wrong which was given for this command.
        tokens = keepsFiles && password?.isGiven != true ? folders.tokens : nil
        // How long a call may take says nothing about a host.
        let names = sources.isEnvironmentOf(host) ? Self.settingNames : ["FM_TIMEOUT"]
        settings = environment.filter { names.contains($0.key) }
        logger = try talk?.logger()
        isQuiet = talk?.quiet ?? false
        self.origins = origins
        hostOrigin = sources.value("host", options.host, \.knownHost)?.origin ?? "FM_HOST"
        if talk?.verbose == true { complain(origins.joined(separator: ", ")) }
    }
}

/// The options, the environment and the profile of a command, and which of them precedes the others.
private struct PlaceSources {
    private let options: ConnectionOptions
    private let environment: [String: String]
    /// The profile in use; nil for none.
    let profile: Profile?
    let profileName: String?
    /// Whether the profile was named. It then precedes the environment, which may be that of another host.
    private let isNamed: Bool

    init(_ options: ConnectionOptions, _ environment: [String: String], _ profiles: Profiles) throws {
        self.options = options
        self.environment = environment
        if let name = options.profile ?? environment.value("FMDATA_PROFILE") {
            (profile, profileName, isNamed) = (try profiles.named(name), name, true)
            return
        }
        isNamed = false
        let standard = profiles.standard.flatMap { profiles.byName[$0] }
        let host = options.host ?? environment.value("FM_HOST")
        let isInUse = standard != nil && (host == nil || host == standard?.host)
        (profile, profileName) = isInUse ? (standard, profiles.standard) : (nil, nil)
    }

    /// A part of the place, and where it comes from; nil if it is not known.
    func value(
        _ name: String,
        _ option: String?,
        _ ofProfile: KeyPath<Profile, String?>
    ) -> (value: String, origin: String)? {
        if let option { return (option, "--\(name)") }
        let variable = "FM_\(name.uppercased())"
        let fromEnvironment = environment.value(variable).map { ($0, variable) }
        let fromProfile = profile?[keyPath: ofProfile].map { ($0, "profile \(profileName ?? "")") }
        return isNamed ? fromProfile ?? fromEnvironment : fromEnvironment ?? fromProfile
    }

    /// Whether the host is that of the environment, as far as it names one.
    func isEnvironmentOf(_ host: String?) -> Bool {
        environment.value("FM_HOST").map { $0 == host || HostName($0) == host.flatMap(HostName.init) } ?? true
    }

    /// Whether the account is that of the environment, as far as it names one.
    private func isEnvironmentAs(_ user: String?) -> Bool { environment.value("FM_USER").map { $0 == user } ?? true }

    /// Why the environment's password, or its key where no account is named, is not used; nil if it may be, or if there
    /// is none.
    func withheld(host: String?, user: String?) -> String? {
        let names = user == nil ? ["FM_KEY", "FM_KEY_FILE"] : ["FM_PASSWORD", "FM_PASSWORD_FILE"]
        guard let name = names.first(where: { environment.value($0) != nil }) else { return nil }
        if let host, let given = environment.value("FM_HOST"), !isEnvironmentOf(host) {
            return "\(name) is for FM_HOST, \(given), and is not sent to \(host). Set FM_HOST to that host"
                + (user == nil ? "." : ", or give --password-file or --password-stdin.")
        }
        guard let user, let given = environment.value("FM_USER"), !isEnvironmentAs(user) else { return nil }
        return "\(name) is for FM_USER, \(given), and is not sent for \(user). Set FM_USER to that account, or give "
            + "--password-file or --password-stdin."
    }

    /// Whether host and account are those of the profile.
    func isProfileOf(_ host: String?, _ user: String?) -> Bool {
        profile != nil && profile?.host == host && profile?.user == user
    }

    /// The source of the password that options, environment or profile name; nil if they name none.
    ///
    /// - Parameter stored: returns the password that was stored for a profile.
    func password(
        host: String?,
        user: String?,
        _ stored: (_ profile: String) throws -> PasswordSource?
    ) throws -> PasswordSource? {
        if options.passwordStdin { return .standardInput.given }
        if let file = options.passwordFile { return .file(file).given }
        func ofProfile() throws -> PasswordSource? {
            guard isProfileOf(host, user), let profile, let profileName else { return nil }
            return try profile.passwordSource ?? stored(profileName)
        }
        func given() throws -> PasswordSource? { try ofEnvironment(host, user)?.given }
        return try isNamed ? ofProfile() ?? given() : given() ?? ofProfile()
    }

    /// The question for the password; nil if nobody can be asked.
    func prompt(host: String?, user: String?) -> PasswordSource? {
        guard let host, let user, TerminalPrompt.isPossible(environment: environment) else { return nil }
        return .prompt("Password of \(user) on \(host): ")
    }

    private func ofEnvironment(_ host: String?, _ user: String?) throws -> PasswordSource? {
        guard isEnvironmentOf(host), isEnvironmentAs(user) else { return nil }
        guard let file = environment.value("FM_PASSWORD_FILE") else {
            return environment["FM_PASSWORD"].map { .known($0, from: "FM_PASSWORD") }
        }
        guard environment.value("FM_PASSWORD") == nil else {
            throw ValidationError("FM_PASSWORD and FM_PASSWORD_FILE exclude each other.")
        }
        return .file(file)
    }
}

extension [String: String] {
    /// The value of a variable; an empty one counts as not set.
    fileprivate func value(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}

extension Place {
    fileprivate static let settingNames: Set = ["FM_ROOT_PATH", "FM_SESSIONS", "FM_TIMEOUT", "FM_KEY", "FM_KEY_FILE"]

    /// Whether a key takes the place of the account.
    var hasKey: Bool {
        user == nil && ["FM_KEY", "FM_KEY_FILE"].contains { settings[$0].map { !$0.isEmpty } ?? false }
    }
}

extension Profile {
    /// The host, as the other parts are known.
    fileprivate var knownHost: String? { host }

    /// The source that the profile names; nil if it names none.
    var passwordSource: PasswordSource? {
        if let passwordCommand { return .command(passwordCommand) }
        return passwordFile.map(PasswordSource.file)
    }
}

extension Place {
    /// Says what is worth knowing and no error.
    func notice(_ line: String) {
        if let captured = CommandStreams.captured { return captured.remark(line) }
        if !isQuiet { note(line) }
    }

    /// The host; throws if none is named.
    var knownHost: String {
        get throws { try named(host, "Which host? Give --host, set FM_HOST, or make a profile: fmdata login.") }
    }

    /// The database; throws if none is named.
    var knownDatabase: String {
        get throws { try named(database, "Which database? Give --database, or set FM_DATABASE.") }
    }

    /// The account; throws if none is named.
    var knownUser: String {
        get throws { try named(user, withheld ?? "Which user? Give --user, or set FM_USER.") }
    }

    private func named(_ value: String?, _ question: String) throws -> String {
        guard let value else { throw ValidationError(question) }
        return value
    }

    /// The server. Nothing is sent yet.
    func server(_ adjust: (inout DataAPI.Config) -> Void = { _ in }) throws -> DataAPI.Server {
        let host = try knownHost
        var config = DataAPI.Config()
        if let ca {
            _ = try FileError.telling("read \(ca)") { try FileHandle(forReadingFrom: URL(fileURLWithPath: ca)).close() }
        }
        // Whoever gives a call more time means each part of it.
        if let time = settings["FM_TIMEOUT"].flatMap(Int.init).map({ Duration.seconds(max(1, min($0, 86_400))) }) {
            config.timeouts.queue = config.timeouts.queue.map { max($0, time) }
            config.timeouts.connect = config.timeouts.connect.map { max($0, time) }
            config.timeouts.firstByte = config.timeouts.firstByte.map { max($0, time) }
            config.timeouts.idle = config.timeouts.idle.map { max($0, time) }
        }
        // The call that logs in waits for the password, and nobody is hurried to type it.
        if password?.source.isQuestion == true { config.timeouts.queue = nil }
        config.tls.pinnedPublicKeys = pins
        // The user waits for the logout, so its deadlines are short.
        config.sessions.logOutDeadline = .seconds(3)
        config.sessions.shutdownDeadline = .seconds(6)
        if let tokens, makeFolder(of: tokens) { config.sessions.tokenStore = .file(at: tokens.path, onFailure: .logIn) }
        // Another session would need a login, and so ask for the password in the middle of the work.
        if tokens != nil, password?.source.isQuestion ?? true { config.sessions.maximumSessions = 1 }
        config.logger = logger
        // Values of a file arrive as they stand there; what people type gets FileMaker's line breaks where it is read.
        config.encoding.lineBreaks = .asTheyAre
        adjust(&config)
        let variables = settings.merging(["FM_HOST": host, "FM_CA": ca ?? ""]) { $1 }
        return try reporting { () throws(DataAPI.EnvironmentError) in
            try DataAPI.Server(environment: variables, config: config)
        }
    }

    /// Turns what is wrong with the environment into a mistake of usage.
    private func reporting<Value>(_ body: () throws(DataAPI.EnvironmentError) -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            let problems = error.problems.map { $0.variable == "FM_HOST" ? "\(hostOrigin) \($0.reason)" : "\($0)" }
            throw ValidationError("\(problems.joined(separator: "; ")).")
        }
    }

    private func makeFolder(of file: URL) -> Bool {
        do {
            try file.deletingLastPathComponent().createPrivateFolder()
            return true
        } catch {
            notice("The session is not kept: \(error)")
            return false
        }
    }

    /// A database. Nothing is sent yet.
    ///
    /// - Parameter name: the name of the database; that of the place by default.
    func database(
        _ name: String? = nil,
        _ adjust: (inout DataAPI.Config) -> Void = { _ in }
    ) throws -> DataAPI.Database {
        // The host is asked for before the database.
        _ = try knownHost
        let name = try name ?? knownDatabase
        if hasKey {
            let server = try server(adjust)
            return try reporting { () throws(DataAPI.EnvironmentError) in
                try server.addDatabase(environment: settings.merging(["FM_DATABASE": name]) { $1 })
            }
        }
        return try server(adjust).addDatabase(name, credentialsProvider: provider())
    }

    /// The account, for each login.
    private func provider() throws -> DataAPI.CredentialsProvider {
        let user = try knownUser
        if tokens == nil { _ = try passwordReader(of: user) }
        // A profile's identity has no password in it: the file of the tokens is the user's own, and the password is
        // not asked for while a session is open.
        return DataAPI.CredentialsProvider(identity: "fmdata \(user)", validity: .seconds(86_400)) {
            .supplied { try await credentials() }
        }
    }

    /// The credentials. Reads the password.
    func credentials() async throws -> DataAPI.Credentials {
        // The library reads the key; the name of a database is not needed for it.
        if hasKey { return try database(database ?? "?").credentials }
        return try await DataAPI.Credentials(user: knownUser, password: knownPassword())
    }

    /// The password; throws if no source of it is known.
    func knownPassword() async throws -> String { try await passwordReader(of: knownUser).password() }

    private func passwordReader(of user: String) throws -> PasswordReader {
        guard let password else {
            throw ValidationError(
                withheld
                    ?? "The password of \(user) is missing: set FM_PASSWORD, or give --password-file or --password-stdin."
            )
        }
        return password
    }
}

extension AnyPublisher where Output: Sendable, Failure == any Error {
    /// The value of asynchronous work, which begins with a subscription and is cancelled with it.
    fileprivate static func supplied(by work: @escaping @Sendable () async throws -> Output) -> Self {
        Deferred {
            let value = SelfGuarded(CurrentValueSubject<Output?, any Error>(nil))
            let task = Task {
                do {
                    // The end would come before a late subscriber has had the value; `first` ends in its place.
                    value.object.send(try await work())
                } catch {
                    value.object.send(completion: .failure(error))
                }
            }
            return value.object.compactMap(\.self).first().handleEvents(receiveCancel: { task.cancel() })
        }
        .eraseToAnyPublisher()
    }
}
