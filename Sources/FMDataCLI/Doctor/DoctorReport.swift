import Foundation

/// What a doctor has found, for people and for programs.
struct DoctorReport: Encodable, Sendable {
    /// A check, and what it has found.
    struct Result: Encodable, Equatable, Sendable {
        let name: DoctorCheck.Name
        let expected: String
        let finding: DoctorFinding
    }

    let host: String
    let database: String?
    let layout: String?
    private(set) var results: [Result] = []

    init(host: String, database: String?, layout: String?) {
        self.host = host
        self.database = database
        self.layout = layout
    }

    /// Makes the checks, one after the other.
    ///
    /// - Parameter made: Called after each check, with its result.
    static func made(
        of patient: DoctorPatient,
        _ checks: [DoctorCheck],
        _ made: (Result) -> Void = { _ in }
    ) async throws -> DoctorReport {
        var report = patient.emptyReport
        for check in checks {
            try Task.checkCancellation()
            let finding: DoctorFinding
            if let obstacle = report.obstacle(to: check) {
                finding = obstacle
            } else {
                finding = await check.run(patient)
            }
            let result = Result(name: check.name, expected: check.expected, finding: finding)
            report.results.append(result)
            made(result)
        }
        try Task.checkCancellation()
        return report
    }

    /// Why a check is not made: one that it needs has failed, or was not made either.
    private func obstacle(to check: DoctorCheck) -> DoctorFinding? {
        for result in results where check.needs.contains(result.name) {
            switch result.finding.status {
            case .ok, .warning: continue
            case .failed: return .skipped("\(result.name.rawValue) has failed", cause: result.name)
            case .skipped:
                guard let cause = result.finding.cause else {
                    return .skipped("\(result.name.rawValue) was skipped", cause: result.name)
                }
                return .skipped(result.finding.found, cause: cause)
            }
        }
        return nil
    }

    /// The exit status of the command; `nil` if nothing has failed.
    var exit: ExitStatus? { results.first { $0.finding.status == .failed }?.finding.exit }

    private func count(_ status: DoctorFinding.Status) -> Int { results.count { $0.finding.status == status } }
}

// MARK: For people

extension DoctorReport {
    /// The whole report.
    var text: String { heading + results.map(\.text).joined() + summary }

    /// What is looked at.
    var heading: String {
        var parts = ["fmdata doctor \(FMDataCommand.version): \(host)"]
        if let database { parts.append("database \(database)") }
        if let layout { parts.append("layout \(layout)") }
        return parts.joined(separator: ", ") + "\n\n"
    }

    /// The end of the report.
    var summary: String {
        let counts = [
            "\(count(.ok)) ok", "\(count(.warning)) to look at", "\(count(.failed)) failed",
            "\(count(.skipped)) skipped",
        ]
        return "\n\(counts.joined(separator: ", "))\n"
    }
}

extension DoctorReport.Result {
    /// The result in a line; with what was expected and what to do in further lines if it is not as it should be.
    var text: String {
        let lines = [finding.found] + details
        let margin = "\n" + String(repeating: " ", count: Self.columns.status + Self.columns.name)
        return status.padded(to: Self.columns.status) + name.rawValue.padded(to: Self.columns.name)
            + lines.joined(separator: margin) + "\n"
    }

    private static let columns = (status: 9, name: 13)

    private var status: String {
        switch finding.status {
        case .ok: "ok"
        case .warning: "look at"
        case .failed: "FAILED"
        case .skipped: "skipped"
        }
    }

    private var details: [String] {
        let isRight = finding.status == .ok || finding.status == .skipped
        return (isRight ? [] : ["expected: \(expected)"]) + finding.advice.map { "advice: \($0)" }
    }
}

// MARK: For programs

extension DoctorReport {
    /// The report as a JSON object.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    private enum CodingKeys: CodingKey {
        case version, host, database, layout, isWell, checks
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(FMDataCommand.version, forKey: .version)
        try container.encode(host, forKey: .host)
        try container.encodeIfPresent(database, forKey: .database)
        try container.encodeIfPresent(layout, forKey: .layout)
        try container.encode(exit == nil, forKey: .isWell)
        try container.encode(results, forKey: .checks)
    }
}

extension DoctorReport.Result {
    private enum CodingKeys: CodingKey {
        case name, status, found, expected, advice, figures, cause
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(finding.status, forKey: .status)
        try container.encode(finding.found, forKey: .found)
        try container.encode(expected, forKey: .expected)
        try container.encode(finding.advice, forKey: .advice)
        try container.encode(finding.figures, forKey: .figures)
        try container.encodeIfPresent(finding.cause, forKey: .cause)
    }
}
