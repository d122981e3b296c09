import FMModel
import Foundation

/// Standard output, for the data of commands. What is written waits in memory until it is worth a call of the system;
/// ``flush()`` writes the rest.
///
/// A program or a file gets each byte. A terminal gets texts without what would act on it: they come from hosts and
/// files.
final class StandardOutput {
    /// The reader has gone, as `head` does after its last line, or the user has left the pager.
    struct ReaderGone: Error {
        var wasPager = false
    }

    private static let capacity = 32 << 10
    private let isTerminal: Bool
    private let isPaged: Bool
    private var waiting: [UInt8] = []

    /// - Parameter isPaged: Whether a terminal gets it through the pager.
    init(isPaged: Bool = false) {
        isTerminal = isatty(STDOUT_FILENO) != 0 && CommandStreams.captured == nil
        self.isPaged = isPaged && isTerminal
    }

    /// - Parameter isHarmless: Whether the values in the text do nothing to a terminal, and its styles are to do so.
    func write(_ text: String, isHarmless: Bool = false) throws {
        waiting += (isTerminal && !isHarmless ? text.harmless : text).utf8
        if waiting.count >= Self.capacity { try flush() }
    }

    func writeLine(_ text: String) throws { try write(text + "\n") }

    func write(_ data: Data) throws {
        if isTerminal { return try write(String(decoding: data, as: UTF8.self)) }
        waiting += data
        if waiting.count >= Self.capacity { try flush() }
    }

    /// Writes everything that waits. Throws ``ReaderGone`` if nobody reads any more.
    func flush() throws {
        guard !waiting.isEmpty else { return }
        defer { waiting.removeAll(keepingCapacity: true) }
        if let captured = CommandStreams.captured { return captured.take(waiting) }
        let pager = isPaged ? Pager.shared.input() : nil
        if pager == nil, isTerminal { ProgressLine.shared.hide() }
        try Self.write(waiting, to: pager ?? STDOUT_FILENO, of: "standard output", isPager: pager != nil)
    }

    /// Writes bytes to a file or a program. Throws ``ReaderGone`` if nobody reads any more.
    static func write(_ bytes: [UInt8], to output: Int32, of name: String, isPager: Bool = false) throws {
        // NIO makes the whole program ignore SIGPIPE, so the result of each call says whether somebody reads.
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Foundation.write(output, $0.baseAddress, $0.count) }
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
            default: throw FileError(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), subject: "write \(name)")
            }
        }
    }
}

/// Prints to standard output as Swift does, but a terminal gets the text without what would act on it.
func print(_ text: String, terminator: String = "\n") {
    Swift.print(isatty(STDOUT_FILENO) != 0 ? text.harmless : text, terminator: terminator)
}
