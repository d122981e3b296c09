import Foundation

/// An error of the file system in one line, as a shell would say it.
struct SystemError: Error, CustomStringConvertible {
    let description: String

    /// - Parameter subject: what was done to what: `save into /tmp/x`.
    init(_ error: any Error, subject: String) {
        let cause = (error as? CocoaError)?.underlying ?? error
        let reason = (cause as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
        description = "cannot \(subject): \(reason ?? error.localizedDescription)"
    }
}
