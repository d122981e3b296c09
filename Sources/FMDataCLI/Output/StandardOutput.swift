import FMModel
import Foundation

/// Standard output, for the data of commands. What is written waits in memory until it is worth a call of the system;
/// ``flush()`` writes the rest.
final class StandardOutput {
    /// The reader has gone, as `head` does after its last line, or the user has left the pager.
    struct ReaderGone: Error {
        var wasPager = false
    }

    private static let capacity = 32 << 10
    private let isPaged: Bool
    private var waiting: [UInt8] = []

    /// - Parameter isPaged: Whether a terminal gets it through the pager.
    init(isPaged: Bool = false) { self.isPaged = isPaged && isatty(STDOUT_FILENO) != 0 }

    func write(_ text: String) throws {
        waiting += text.utf8
        if waiting.count >= Self.capacity { try flush() }
    }

    func writeLine(_ text: String) throws { try write(text + "\n") }

    func write(_ data: Data) throws {
        waiting += data
        if waiting.count >= Self.capacity { try flush() }
    }

    /// Writes everything that waits. Throws ``ReaderGone`` if nobody reads any more.
    func flush() throws {
        guard !waiting.isEmpty else { return }
        defer { waiting.removeAll(keepingCapacity: true) }
        if let captured = CommandStreams.captured { return captured.take(waiting) }
        let pager = isPaged && !Pager.isLeftOut ? Pager.shared.input() : nil
        if pager == nil, isatty(STDOUT_FILENO) != 0 { ProgressLine.shared.hide() }
        try write(to: pager ?? STDOUT_FILENO, isPager: pager != nil)
    }

    private func write(to output: Int32, isPager: Bool) throws {
        // NIO makes the whole program ignore SIGPIPE, so the result of each call says whether somebody reads.
        var start = 0
        while start < waiting.count {
            let count = waiting[start...].withUnsafeBytes { Foundation.write(output, $0.baseAddress, $0.count) }
            if count >= 0 {
                start += count
                continue
            }
            switch errno {
            case EINTR: break
            // A reader behind a socket that leaves before it has read everything resets it.
            case EPIPE, ECONNRESET: throw ReaderGone(wasPager: isPager)
            case EAGAIN:
                // The user has not turned the page yet, or a program that reads through the same pipe has made it so.
                // The wait is short, so that Ctrl-C is noticed.
                try Task.checkCancellation()
                var descriptor = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                poll(&descriptor, 1, 50)
            default:
                throw FileError(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), subject: "write standard output")
            }
        }
    }
}
