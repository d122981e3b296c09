import Foundation

/// The line at a terminal that says what a command waits for, or how far it has come. It appears on standard error
/// after half a second, does not scroll, and is gone when the command ends. Without a terminal there is none.
///
/// A terminal is one for the whole process, and so is its line: whatever else is written erases it first.
final class ProgressLine: Sendable {
    static let shared = ProgressLine()

    private struct State: Sendable {
        var isRunning = false
        /// The number of questions that wait for an answer in the line.
        var pauses = 0
        var isShown = false
        var began = ContinuousClock.now
        var text: @Sendable (Duration) -> String = { _ in "" }
    }

    private let state = LockedValue(State())

    private init() {}

    /// Does work, with the line if standard error is a terminal.
    ///
    /// - Parameters:
    ///   - what: What the work waits for, as long as nobody says more.
    ///   - isQuiet: Whether there is no line in any case.
    func during<Value>(
        _ what: String,
        isQuiet: Bool,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        guard !isQuiet, isatty(STDERR_FILENO) != 0 else { return try await work() }
        state.change { state in
            state.isRunning = true
            state.began = .now
            state.text = { "\(what), \($0.components.seconds) s" }
        }
        let ticker = Task {
            var pause = Duration.milliseconds(500)
            while (try? await Task.sleep(for: pause)) != nil {
                draw()
                pause = .milliseconds(200)
            }
        }
        defer {
            ticker.cancel()
            hide()
            state.change { $0.isRunning = false }
        }
        return try await work()
    }

    /// Says how far the work has come. The text gets the time since it began.
    func report(_ text: @escaping @Sendable (Duration) -> String) { state.change { $0.text = text } }

    /// Erases the line until it is drawn again.
    func hide() {
        state.change { state in
            guard state.isShown else { return }
            state.isShown = false
            writeToStandardError("\r\u{1B}[K")
        }
    }

    /// Erases the line, and draws none until ``resume()``.
    func pause() {
        hide()
        state.change { $0.pauses += 1 }
    }

    func resume() { state.change { $0.pauses -= 1 } }

    private func draw() {
        state.change { state in
            guard state.isRunning, state.pauses == 0 else { return }
            var size = winsize()
            let isSized = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1
            // A full line would wrap, and could not be erased.
            let text = state.text(ContinuousClock.now - state.began).visible.cut(
                to: isSized ? Int(size.ws_col) - 1 : 79
            )
            state.isShown = true
            writeToStandardError("\r\u{1B}[K\(text)")
        }
    }

}

extension ProgressLine {
    /// Says how many things are done, of how many, and how long the rest will take.
    ///
    /// - Parameters:
    ///   - what: What is counted: `records`.
    ///   - total: nil if it is not known.
    func report(_ done: Int, of total: Int?, _ what: String) {
        report { Self.text(done, of: total, what, after: $0) }
    }

    static func text(_ done: Int, of total: Int?, _ what: String, after time: Duration) -> String {
        let seconds = time / .seconds(1)
        var text = total.map { "\(done) of \($0) \(what)" } ?? "\(done) \(what)"
        guard seconds > 0, done > 0 else { return text }
        let rate = Double(done) / seconds
        text += ", \(Int(rate.rounded()))/s"
        if let total, total > done { text += ", \(Int((Double(total - done) / rate).rounded(.up))) s left" }
        return text
    }

    /// Says how much of a file is transferred.
    func reportBytes(_ done: Int, of total: Int?) {
        report(Int((Double(done) / 1024).rounded(.up)), of: total.map { Int((Double($0) / 1024).rounded(.up)) }, "KB")
    }
}
