import Foundation

/// Questions at the terminal. They are asked on standard error and answered by the terminal, so that the data of a
/// command may go elsewhere.
enum TerminalPrompt {
    /// Whether there is somebody to ask.
    static func isPossible(environment: [String: String]) -> Bool {
        guard (environment["FMDATA_NO_PROMPT"] ?? "").isEmpty, isatty(STDERR_FILENO) != 0 else { return false }
        if isatty(STDIN_FILENO) != 0 { return true }
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        if terminal >= 0 { close(terminal) }
        return terminal >= 0
    }

    /// Asks a question, and returns the line that is typed. Cancelling the task ends the question.
    ///
    /// - Parameter echo: whether the terminal shows what is typed.
    static func ask(_ question: String, echo: Bool) async throws -> String {
        let isCancelled = LockedValue(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try answer(to: question, echo: echo, unless: isCancelled) })
                }
            }
        } onCancel: {
            isCancelled.value = true
        }
    }

    private static func answer(to question: String, echo: Bool, unless isCancelled: LockedValue<Bool>) throws -> String
    {
        let isInput = isatty(STDIN_FILENO) != 0
        let terminal = isInput ? STDIN_FILENO : open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { throw CommandError("There is no terminal to ask \"\(question)\".", .usage) }
        defer { if !isInput { close(terminal) } }
        ProgressLine.shared.pause()
        defer { ProgressLine.shared.resume() }
        var before = termios()
        let isHidden = !echo && tcgetattr(terminal, &before) == 0
        if isHidden {
            var hidden = before
            hidden.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(terminal, TCSAFLUSH, &hidden)
        }
        // Whoever sees the question may answer at once, and that is neither shown nor lost.
        writeToStandardError(question)
        defer {
            if isHidden {
                tcsetattr(terminal, TCSAFLUSH, &before)
                writeToStandardError("\n")
            }
        }
        var line = Data()
        while true {
            if isCancelled.value { throw CancellationError() }
            // The wait is short, so that Ctrl-C is noticed: the signal goes to a handler, not to this thread.
            var descriptor = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 50) > 0 else { continue }
            var byte: UInt8 = 0
            switch read(terminal, &byte, 1) {
            case 1 where byte == UInt8(ascii: "\n"): return String(decoding: line, as: UTF8.self)
            case 1: line.append(byte)
            case -1 where errno == EINTR || errno == EAGAIN: continue
            default: throw CommandError("The terminal was closed.")
            }
        }
    }
}
