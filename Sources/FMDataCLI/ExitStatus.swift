import ArgumentParser
import FMData
import Foundation

/// How a command ends, for scripts. 64 is ArgumentParser's, for arguments that make no sense.
enum ExitStatus: Int32 {
    case failed = 1
    /// Some layouts could not be read; the others were.
    case incomplete = 2
    /// Something differs from what it was compared with.
    case different = 3
    /// The account is refused, or may not do this.
    case refused = 4
    /// The server cannot be reached, or does not answer in time.
    case unreachable = 5

    /// For what to throw.
    var code: ExitCode { ExitCode(rawValue) }

    /// After a signal, as a shell tells of one: 130 is Ctrl-C.
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

/// A line for the person, not for the program that reads the output.
func note(_ line: String) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
}
