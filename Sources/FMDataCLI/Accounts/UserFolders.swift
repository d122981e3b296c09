import FMModel
import Foundation

/// The folders for the user's files, by the XDG Base Directory specification.
struct UserFolders: Equatable, Sendable {
    /// The folder of profiles and stored passwords.
    let configuration: URL
    /// The folder of the tokens of kept sessions. Where the system has one that ends with the user's login, it is in
    /// that.
    let sessions: URL
    /// The folder of what can be found out again.
    let cache: URL
    /// The file of passwords that curl, git and others read, too.
    let netrc: PrivateFile

    init(environment: [String: String]) {
        // The specification says to ignore paths that are not absolute.
        func folder(_ variable: String) -> URL? {
            environment[variable].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0, isDirectory: true) : nil }
        }
        let home = folder("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
        configuration = (folder("XDG_CONFIG_HOME") ?? home.appendingPathComponent(".config")).appendingPathComponent(
            "fmdata"
        )
        cache = (folder("XDG_CACHE_HOME") ?? home.appendingPathComponent(".cache")).appendingPathComponent("fmdata")
        let states = folder("XDG_STATE_HOME") ?? home.appendingPathComponent(".local/state")
        netrc = PrivateFile(folder("NETRC") ?? home.appendingPathComponent(".netrc"))
        sessions = (folder("XDG_RUNTIME_DIR") ?? states).appendingPathComponent("fmdata")
    }

    /// The file of the profiles.
    var profiles: URL { configuration.appendingPathComponent("config.json") }
    /// The file of stored passwords.
    var passwords: PrivateFile { PrivateFile(configuration.appendingPathComponent("credentials.json")) }
    /// The file of the tokens of kept sessions.
    var tokens: URL { sessions.appendingPathComponent("sessions.json") }
    /// The folder of the tokens of running commands that keep no session.
    var running: URL { sessions.appendingPathComponent("running") }
}

extension URL {
    /// Creates the folder, and those above it, for its owner alone.
    func createPrivateFolder() throws(FileError) {
        try FileError.telling("make the folder \(path)") {
            try FileManager.default.createDirectory(
                at: self,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
    }
}
