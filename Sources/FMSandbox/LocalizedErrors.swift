public import Foundation

// The `localizedDescription` of the sandbox's errors.

extension FileMakerError: LocalizedError, CustomStringConvertible {
    /// The code and its text.
    public var description: String { "FileMaker error \(code): \(message)" }

    /// The code and its text.
    public var errorDescription: String? { description }
}

extension SolutionError: LocalizedError {
    /// The solution, the place and the reason, in one line.
    public var errorDescription: String? { description }
}

extension Sandbox.PortError: LocalizedError {
    /// The port and the reason, in one line.
    public var errorDescription: String? { description }
}

extension Sandbox.CertificateError: LocalizedError {
    /// The reason, in one line.
    public var errorDescription: String? { description }
}
