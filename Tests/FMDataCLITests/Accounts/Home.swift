import FMSandbox
import FMTestSupport
import Foundation

/// A user with files of the command in a folder, who works with the sample database of a sandbox.
struct Home: Sendable {
    let folder: URL
    let sandbox: Sandbox
    /// What the environment of each run says beside `HOME`.
    var environment: [String: String] = [:]

    /// Runs a test with a user who has no files yet.
    static func with(
        _ configuration: Sandbox.Configuration = Sandbox.Configuration(),
        solutions: [Solution] = [.sample],
        _ body: (Home) async throws -> Void
    ) async throws {
        var configuration = configuration
        // A connection that the sandbox closes meanwhile would be another thing to wait for.
        configuration.keepAlive = .seconds(3600)
        let sandbox = try await Sandbox.start(solutions, configuration: configuration)
        do {
            try await withTemporaryFolder { try await body(Home(folder: $0, sandbox: sandbox)) }
            await sandbox.stop()
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    /// The user in an environment that names the sandbox and the account `admin`.
    var asAdmin: Home {
        setting(["FM_HOST": sandbox.url, "FM_DATABASE": "World", "FM_USER": "admin", "FM_PASSWORD": "secret"])
    }

    /// The user in an environment with these variables, too.
    func setting(_ variables: [String: String]) -> Home {
        var home = self
        home.environment.merge(variables) { $1 }
        return home
    }

    /// Runs the command.
    func fmdata(
        _ arguments: String...,
        input: String = "",
        terminal: Terminal? = nil,
        outputIsTerminal: Bool = false
    ) async throws -> FinishedProgram {
        try await FinishedProgram.run(
            arguments,
            environment: ["HOME": folder.path].merging(environment) { $1 },
            input: input,
            terminal: terminal,
            outputIsTerminal: outputIsTerminal
        )
    }

    /// A file below the folder.
    func file(_ path: String) -> URL { folder.appendingPathComponent(path) }

    /// The text of a file below the folder; nil if there is none.
    func text(_ path: String) -> String? { try? String(contentsOf: file(path), encoding: .utf8) }

    /// The permissions of a file below the folder.
    func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(path).path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}
