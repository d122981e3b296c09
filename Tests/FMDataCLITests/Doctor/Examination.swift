import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// A run of `fmdata doctor --json`.
struct Examination: Decodable {
    struct Check: Decodable, Equatable {
        var name: DoctorCheck.Name
        var status: DoctorFinding.Status
        var found: String
        var expected: String
        var advice: [String]
        var figures: [String: Int]
        var cause: DoctorCheck.Name?
    }

    var checks: [Check]
    var isWell: Bool
    var host: String

    private(set) var exit: Int32 = -1
    private enum CodingKeys: CodingKey { case checks, isWell, host }

    /// The account that every test uses; no report may name it.
    static let user = "clerk-canary"
    static let password = "secret-\u{1F512}-canary"

    /// Limits that no busy machine reaches.
    static let patience = ["--timeout", "3600", "--slow-after", "3600000"]

    /// Runs the command.
    static func run(
        _ arguments: [String],
        host: String,
        database: String? = "Shop",
        user: String? = user,
        password: String? = password,
        environment: [String: String] = [:]
    ) async throws -> Examination {
        let finished = try await finished(
            arguments + ["--json"],
            host: host,
            database: database,
            user: user,
            password: password,
            environment: environment
        )
        var examination: Examination
        do {
            examination = try JSONDecoder().decode(Examination.self, from: Data(finished.output.utf8))
        } catch {
            Issue.record("no report: \(finished)")
            throw error
        }
        examination.exit = finished.status
        #expect(examination.isWell == (finished.status == 0))
        #expect(examination.checks.map(\.name) == DoctorCheck.Name.allCases)
        return examination
    }

    /// Runs the command as people do.
    static func finished(
        _ arguments: [String],
        host: String,
        database: String? = "Shop",
        user: String? = user,
        password: String? = password,
        environment: [String: String] = [:]
    ) async throws -> FinishedProgram {
        let given = ["FM_HOST": host, "FM_DATABASE": database, "FM_USER": user, "FM_PASSWORD": password]
        let finished = try await FinishedProgram.run(
            ["doctor"] + patience + arguments,
            environment: given.compactMapValues(\.self).merging(environment) { $1 }
        )
        for text in [finished.output, finished.errors] {
            #expect(!text.contains("canary"), "\(text)")
            #expect(!text.contains("config."), "\(text)")
        }
        return finished
    }

    subscript(name: DoctorCheck.Name) -> Check {
        get throws { try #require(checks.first { $0.name == name }) }
    }

    /// The names of the checks with this status.
    func names(_ status: DoctorFinding.Status) -> [DoctorCheck.Name] {
        checks.filter { $0.status == status }.map(\.name)
    }

    /// The only failure, because of which others were skipped.
    func failure(_ name: DoctorCheck.Name, sourceLocation: SourceLocation = #_sourceLocation) throws -> Check {
        #expect(names(.failed) == [name], "\(self)", sourceLocation: sourceLocation)
        for check in checks where check.status == .skipped {
            #expect(check.cause == name || check.name.needsALayout, "\(check)", sourceLocation: sourceLocation)
        }
        return try self[name]
    }
}

extension DoctorCheck.Name {
    /// Whether the check is skipped when no layout is named.
    fileprivate var needsALayout: Bool { [.record, .container, .model].contains(self) }
}
