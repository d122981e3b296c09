import FMData

/// What a check has found. It names no account, and holds no password, token or value of a field.
struct DoctorFinding: Equatable, Sendable {
    enum Status: String, Codable, Sendable {
        case ok, warning, failed
        /// The check was not made.
        case skipped
    }

    var status: Status
    /// What is there, in a sentence.
    var found: String
    /// What to check or change; the most likely first.
    var advice: [String]
    /// The exit status of the command if this is the first failure.
    var exit = ExitStatus.failed
    /// The numbers of the finding, for programs.
    var figures: [String: Int] = [:]
    /// The check because of which this one was not made.
    var cause: DoctorCheck.Name?

    private init(_ status: Status, _ found: String, _ advice: [String]) {
        self.status = status
        self.found = found
        self.advice = advice
    }

    static func ok(_ found: String) -> DoctorFinding { DoctorFinding(.ok, found, []) }

    /// Something that works, and may be better otherwise.
    static func warning(_ found: String, _ advice: String...) -> DoctorFinding {
        DoctorFinding(.warning, found, advice)
    }

    static func failed(_ found: String, _ advice: [String], exit: ExitStatus = .failed) -> DoctorFinding {
        var finding = DoctorFinding(.failed, found, advice)
        finding.exit = exit
        return finding
    }

    static func failed(_ found: String, _ advice: String..., exit: ExitStatus = .failed) -> DoctorFinding {
        failed(found, advice, exit: exit)
    }

    /// The failure of a call for which nothing better is known than the library's own text and hint.
    static func failed(_ error: FMRest.APIError) -> DoctorFinding {
        failed(error.finding, [ErrorText.hint(for: error)].compactMap(\.self), exit: ExitStatus(error))
    }

    static func skipped(_ reason: String, _ advice: String..., cause: DoctorCheck.Name? = nil) -> DoctorFinding {
        var finding = DoctorFinding(.skipped, reason, advice)
        finding.cause = cause
        return finding
    }

    func with(_ figures: [String: Int]) -> DoctorFinding {
        var finding = self
        finding.figures = figures
        return finding
    }
}

extension FMRest.APIError {
    /// What has happened, without the request.
    var finding: String {
        let status = httpStatus.map { " (HTTP \($0))" } ?? ""
        return (fileMakerCode?.summary ?? ErrorText.reason(of: self)) + status
    }
}
