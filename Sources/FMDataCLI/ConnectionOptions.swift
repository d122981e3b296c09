import ArgumentParser
import FMData
import FMModel
import Foundation

/// The database and the account of a command. The password is never an argument, because all users of the machine can
/// read arguments.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "The server, as fms.example.com or http://127.0.0.1:3000 (what FM_HOST says).")
    var host: String?

    @Option(help: "The database, without .fmp12 (what FM_DATABASE says).")
    var database: String?

    @Option(help: "The account (what FM_USER says). Its password is what FM_PASSWORD says.")
    var user: String?

    @Option(help: ArgumentHelp("Trust the authority in this file (PEM) as well.", valueName: "file"))
    var ca: String?

    /// The database. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - otherName: The name of a different database, for a test that expects a refusal.
    ///   - dateFormats: The format of dates in requests and answers.
    func open(
        _ otherName: String? = nil,
        dateFormats: DataAPI.DateFormats = .us,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> DataAPI.Database {
        func value(_ option: String?, _ name: String, _ variable: String) throws -> String {
            guard let value = option ?? environment[variable], !value.isEmpty else {
                throw ValidationError("Which \(name)? Give --\(name), or set \(variable).")
            }
            return value
        }
        let host = try value(host, "host", "FM_HOST")
        let name = try value(database, "database", "FM_DATABASE")
        let user = try value(user, "user", "FM_USER")
        guard let password = environment["FM_PASSWORD"] else {
            throw ValidationError("The password of \(user) is missing: set FM_PASSWORD.")
        }
        var config = DataAPI.Config()
        config.dateFormats = dateFormats
        if let ca {
            _ = try FileError.telling("read \(ca)") { try FileHandle(forReadingFrom: URL(fileURLWithPath: ca)).close() }
            config.tls.roots = .systemAnd(file: ca)
        }
        // The user waits for the logout, so its deadlines are short.
        config.sessions.logOutDeadline = .seconds(3)
        config.sessions.shutdownDeadline = .seconds(6)
        return DataAPI.Server(host: host, config: config)
            .addDatabase(otherName ?? name, credentials: Credentials(user: user, password: password))
    }
}
