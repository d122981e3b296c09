import Foundation

/// The passwords that `fmdata login --save-password` stores, by profile, in `credentials.json`.
///
/// A password is bound to the host and the account that it was stored for, so that a changed profile does not send it
/// to another host.
struct StoredPasswords {
    private struct Entry: Codable {
        var host: String
        var user: String
        var password: String
    }

    private var entries: [String: Entry]
    private let file: PrivateFile

    /// Reads a file; there are no passwords if there is no such file.
    ///
    /// - Parameter complain: is told why a file is not used.
    init(_ file: PrivateFile, complain: (String) -> Void) throws {
        self.file = file
        entries = [:]
        do {
            guard let content = try file.read() else { return }
            entries = try JSONDecoder().decode([String: Entry].self, from: content)
        } catch is PrivateFile.NotPrivate {
            complain(
                "\(file.url.path) is ignored, since others can read it: chmod 600 it, and change the passwords in it."
            )
        } catch is DecodingError {
            complain("\(file.url.path) is ignored: its content is not what fmdata login writes.")
        }
    }

    /// The password of a profile's account on its host; nil if none was stored.
    func password(of profile: String, host: String, user: String) -> String? {
        entries[profile].flatMap { $0.host == host && $0.user == user ? $0.password : nil }
    }

    /// Stores a password, or removes it.
    mutating func set(_ password: String?, of profile: String, host: String, user: String) throws {
        guard password != nil || entries[profile] != nil else { return }
        entries[profile] = password.map { Entry(host: host, user: user, password: $0) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try file.write(try encoder.encode(entries))
    }
}
