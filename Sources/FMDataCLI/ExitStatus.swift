import ArgumentParser
import FMData
import Foundation

/// The exit status of a command, for scripts. ArgumentParser uses 64 for invalid arguments.
enum ExitStatus: Int32 {
    case failed = 1
    /// Some layouts could not be read; the others were.
    case incomplete = 2
    /// There are differences from what was compared.
    case different = 3
    /// The account was refused, or lacks the privileges.
    case refused = 4
    /// The server cannot be reached, or does not answer in time.
    case unreachable = 5

    /// The status as an error to throw.
    var code: ExitCode { ExitCode(rawValue) }

    /// The status after a signal, as in a shell: 130 is Ctrl-C.
    static func interrupted(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }

    init(_ error: any Error) {
        guard let error = error as? FMRest.APIError else {
            self = .failed
            return
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
    FileHandle.standardError.write(Data("\(line)\n".utf8))
}
