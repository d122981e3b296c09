import Foundation

/// An error of the file system in one line, in the style of a shell:
/// `cannot write Generated/A.swift: No space left on device`.
package struct FileError: Error, Equatable, CustomStringConvertible {
    package let description: String

    /// - Parameter subject: The operation and its target: `save into /tmp/x`.
    package init(_ error: any Error, subject: String) {
        description = "cannot \(subject): \(Self.reason(of: error))"
    }

    /// Runs an operation on a file or a folder, and turns its error into a ``FileError``.
    ///
    /// - Parameter subject: The operation and its target.
    package static func telling<Value>(_ subject: String, _ body: () throws -> Value) throws(FileError) -> Value {
        do {
            return try body()
        } catch {
            throw FileError(error, subject: subject)
        }
    }

    private static func reason(of error: any Error) -> String {
        guard let error = error as? CocoaError else { return posixReason(of: error) ?? "\(error)" }
        if let reason = error.underlying.flatMap(posixReason) { return reason }
        // Errors that Foundation reports without an underlying POSIX error.
        switch error.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: return words(.ENOENT)
        case .fileReadNoPermission, .fileWriteNoPermission: return words(.EACCES)
        case .fileWriteFileExists: return words(.EEXIST)
        case .fileWriteOutOfSpace: return words(.ENOSPC)
        case .fileWriteVolumeReadOnly: return words(.EROFS)
        case .fileReadTooLarge: return words(.EFBIG)
        default: return "the file system refuses it"
        }
    }

    private static func posixReason(of error: any Error) -> String? {
        (error as? POSIXError).map { words($0.code) }
    }

    private static func words(_ code: POSIXErrorCode) -> String { String(cString: strerror(code.rawValue)) }
}
