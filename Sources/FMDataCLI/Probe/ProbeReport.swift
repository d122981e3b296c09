import FMData

/// The results of a probe. They contain no name, no value and no account.
struct ProbeReport {
    private let version: String?
    private let findings: [(question: ProbeQuestion, finding: ProbeFinding)]

    /// Asks all questions, one after the other.
    init(version: String?, asking questions: [ProbeQuestion], of subject: ProbeSubject) async {
        self.version = version
        var findings: [(ProbeQuestion, ProbeFinding)] = []
        for question in questions { findings.append((question, await question.finding(of: subject))) }
        self.findings = findings
    }

    /// Whether an answer differs from the assumption.
    var differs: Bool { differentCount > 0 }

    /// The report, with a line for each question and a summary.
    var text: String {
        let lines = findings.map { question, finding in
            let (word, told) =
                switch finding {
                case .asAssumed(let found): ("as assumed", found)
                case .different(let found, let assumed): ("DIFFERENT", "\(found); assumed was: \(assumed)")
                case .notAsked(let reason): ("not asked", reason)
                }
            return "\(word.padded(to: 10))  \(question.name.padded(to: 20))  \(question.text): \(told)\n"
        }
        return """
            fmdata probe, host version \(version ?? "not told")

            \(lines.joined())
            \(findings.count - notAskedCount) asked, \(differentCount) different, \(notAskedCount) not asked

            """
    }

    private var notAskedCount: Int { findings.count { if case .notAsked = $0.finding { true } else { false } } }

    private var differentCount: Int { findings.count { if case .different = $0.finding { true } else { false } } }
}

extension ProbeQuestion {
    /// Asks the question. The error of a call that the question depends on becomes the reason why it was not asked.
    fileprivate func finding(of subject: ProbeSubject) async -> ProbeFinding {
        do {
            let found = try await ask(subject)
            return found == assumed ? .asAssumed(found) : .different(found: found, assumed: assumed)
        } catch let error as NotAsked {
            return .notAsked(error.reason)
        } catch let error as FMRest.APIError {
            return .notAsked("what it needs ended with \(error.told)")
        } catch {
            return .notAsked("what it needs ended with \(type(of: error))")
        }
    }
}
