import FMSandbox
import Foundation

/// The text for a user at a terminal when the sandbox accepts connections: its databases and accounts, and a first
/// command to try. It contains no password.
struct Welcome {
    let url: String
    let solutions: [Solution]
    /// The file of the certificate authority; nil without TLS.
    let authorityFile: String?

    var text: String {
        let databases = solutions.map { "  \($0.name) (\(Self.accounts(of: $0)))" }
        return """
            Serving until Ctrl-C:
            \(databases.joined(separator: "\n"))
            Try it; curl asks for the password:
              \(curl)

            """
    }

    private static func accounts(of solution: Solution) -> String {
        let names = solution.accounts.filter(\.isActive).map { account in
            switch account.kind {
            case .fileMaker: account.name
            case .oauth: "\(account.name) by OAuth"
            case .clarisID: "\(account.name) by Claris ID"
            }
        }
        if solution.accounts.isEmpty { return "account admin, empty password" }
        return names.isEmpty
            ? "no account that is active"
            : "\(names.count == 1 ? "account" : "accounts") "
                + names.joined(separator: ", ")
    }

    /// A login with curl; its answer has the token that the other calls need.
    private var curl: String {
        let solution = solutions.first { $0.accounts.isEmpty || Self.user(of: $0) != nil } ?? solutions.first
        let name = solution?.name ?? ""
        let database = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
        let user = solution.flatMap(Self.user) ?? "admin"
        var words = ["curl"]
        if let authorityFile { words += ["--cacert", Self.quoted(authorityFile)] }
        words += ["-u", Self.quoted(user), "-H", "'Content-Type: application/json'", "-d", "'{}'"]
        return (words + [Self.quoted("\(url)/fmi/data/vLatest/databases/\(database)/sessions")]).joined(separator: " ")
    }

    private static func user(of solution: Solution) -> String? {
        solution.accounts.first { $0.isActive && $0.kind == .fileMaker }?.name
    }

    /// The text as one word of a POSIX shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }
}
