public import Foundation

// What `localizedDescription` says of the errors of a sandbox.

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
    /// The port and what is wrong with it, in one line.
    public var errorDescription: String? { description }
}

extension Sandbox.CertificateError: LocalizedError {
    /// What is wrong with the certificate, in one line.
    public var errorDescription: String? { description }
}
