import ArgumentParser
import FMData
import Foundation

/// The exit status of a command, for scripts.
enum ExitStatus: Int32, CaseIterable {
    case done = 0
    case failed = 1
    case incomplete = 2
    case different = 3
    case refused = 4
    case unreachable = 5
    case conflict = 6
    case unknownOutcome = 7
    /// ArgumentParser uses the same number.
    case usage = 64
    case interrupted = 130
    case readerGone = 141

    /// The meaning, as help and manual have it.
    var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .incomplete: "only a part was done: some layouts could not be read, some rows were refused"
        case .different: "something differs from what it was compared with, or nothing was found where that was asked"
        case .refused: "the account is refused, or lacks a privilege"
        case .unreachable: "the host cannot be reached, or does not answer in time"
        case .conflict: "somebody else has changed the record, or is editing it"
        case .unknownOutcome: "whether a write was carried out is not known"
        case .usage: "the command makes no sense"
        case .interrupted: "interrupted by Ctrl-C (143 by SIGTERM, 129 when its terminal was closed)"
        case .readerGone: "the reader of standard output has gone"
        }
    }

    /// The table of all statuses, for the help.
    static var table: String {
        allCases.map { "  \($0.rawValue)".padded(to: 7) + $0.meaning }.joined(separator: "\n")
    }

    /// The status as an error to throw.
    var code: ExitCode { ExitCode(rawValue) }

    /// The status after a signal, as in a shell: 130 is Ctrl-C.
    static func interrupted(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }

    init(_ error: FMRest.APIError) {
        if error.outcomeIsUnknown {
            self = .unknownOutcome
            return
        }
        switch (error.code, error.fileMakerCode) {
        case (.conflict, _), (_, .modIdMismatch?), (_, .recordInUse?):
            self = .conflict
            return
        default: break
        }
        switch (error.code, error.fileMakerCode?.category) {
        case (.unauthorized, _), (_, .account?), (_, .privileges?): self = .refused
        case (.network, _), (.tls, _), (.timeout, _): self = .unreachable
        default: self = .failed
        }
    }
}

/// Writes a line to standard error, which is for the user and not for programs that read the output.
func note(_ line: String) {
    if Pager.shared.keep(line) { return }
    ProgressLine.shared.hide()
    writeToStandardError("\(isatty(STDERR_FILENO) != 0 ? line.harmless : line)\n")
}

/// Writes text to standard error. If that is closed, nobody is to be told.
func writeToStandardError(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}
