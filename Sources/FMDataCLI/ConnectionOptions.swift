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

    @Option(help: "The account (what FM_USER says). Its password is what FM_PASSWORD or FM_PASSWORD_FILE says.")
    var user: String?

    @Option(
        help: ArgumentHelp("Trust the authority in this file (PEM) as well (what FM_CA says).", valueName: "file")
    )
    var ca: String?

    /// The variables of the environment, with the options in place of those that say the same.
    func variables(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String: String] {
        let given = ["FM_HOST": host, "FM_DATABASE": database, "FM_USER": user, "FM_CA": ca]
        return environment.merging(given.compactMapValues(\.self)) { $1 }
    }

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
        let server = try openServer(dateFormats: dateFormats, environment: environment)
        var variables = variables(environment)
        if let otherName { variables["FM_DATABASE"] = otherName }
        do {
            return try server.addDatabase(environment: variables)
        } catch {
            throw ValidationError(Self.advice(on: error, user: variables["FM_USER"]))
        }
    }

    /// The server, for what needs no database. Nothing is sent yet.
    func openServer(
        dateFormats: DataAPI.DateFormats = .us,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> DataAPI.Server {
        var config = DataAPI.Config()
        config.dateFormats = dateFormats
        // The user waits for the logout, so its deadlines are short.
        config.sessions.logOutDeadline = .seconds(3)
        config.sessions.shutdownDeadline = .seconds(6)
        let variables = variables(environment)
        if let ca = variables["FM_CA"], !ca.isEmpty {
            _ = try FileError.telling("read \(ca)") { try FileHandle(forReadingFrom: URL(fileURLWithPath: ca)).close() }
        }
        do {
            return try DataAPI.Server(environment: variables, config: config)
        } catch {
            throw ValidationError(Self.advice(on: error, user: variables["FM_USER"]))
        }
    }

    /// What the user can do about variables that are missing or wrong. The options say the same as variables do.
    private static func advice(on error: DataAPI.EnvironmentError, user: String?) -> String {
        error.problems.map { problem in
            guard problem.isMissing else { return "\(problem)." }
            let name = problem.variable.dropFirst("FM_".count).lowercased()
            if name == "password" { return "The password of \(user ?? "the account") is missing: set FM_PASSWORD." }
            return "Which \(name)? Give --\(name), or set \(problem.variable)."
        }
        .joined(separator: " ")
    }
}
