import FMModel
import Foundation

/// Standard input of the shell, read when something is asked for.
enum StandardInput {
    private static let capacity = 64 << 10

    /// What has arrived, or arrives next; empty at the end. A terminal hands over a line, or a part of one. Cancelling
    /// the task ends the wait.
    static func read() async throws -> [UInt8] {
        let isCancelled = LockedValue(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try bytes(unless: isCancelled) })
                }
            }
        } onCancel: {
            isCancelled.value = true
        }
    }

    private static func bytes(unless isCancelled: LockedValue<Bool>) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: capacity)
        while true {
            if isCancelled.value { throw CancellationError() }
            // The wait is short, so that a signal is noticed: it goes to a handler, not to this thread.
            var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 50) > 0 else { continue }
            let count = Foundation.read(STDIN_FILENO, &bytes, bytes.count)
            if count >= 0 { return Array(bytes[..<count]) }
            switch errno {
            case EINTR, EAGAIN: continue
            // The terminal has gone.
            case EIO: return []
            case let number:
                throw FileError(POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO), subject: "read standard input")
            }
        }
    }

    /// Throws if standard input has the commands of the shell, and so nothing for one of them.
    static func checkItIsFree() throws(CommandError) {
        guard HostVisit.current == nil else {
            throw CommandError("Standard input has the commands of the shell: name a file.", .usage)
        }
    }
}
