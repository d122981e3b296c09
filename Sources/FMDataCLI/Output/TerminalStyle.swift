import Foundation

/// What standard output shows: its width, and whether it shows styles.
struct TerminalStyle: Equatable, Sendable {
    /// The columns; nil if there is no limit.
    var columns: Int?
    var hasStyles = false

    /// - Parameters:
    ///   - isTerminal: Whether standard output is a terminal.
    ///   - windowColumns: The columns of its window; nil if unknown.
    init(environment: [String: String], isTerminal: Bool, windowColumns: Int?) {
        func isSet(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
        let given = environment["COLUMNS"].flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil }
        columns = given ?? (isTerminal ? windowColumns ?? 80 : nil)
        // https://no-color.org, https://bixense.com/clicolors
        if isSet("NO_COLOR") || environment["TERM"] == "dumb" {
            hasStyles = false
        } else {
            hasStyles = isTerminal || environment["CLICOLOR_FORCE"].map { !$0.isEmpty && $0 != "0" } ?? false
        }
    }

    /// The style of this process's standard output.
    static var ofStandardOutput: TerminalStyle {
        var size = winsize()
        let isSized = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return TerminalStyle(
            environment: ProcessInfo.processInfo.environment,
            isTerminal: isatty(STDOUT_FILENO) != 0,
            windowColumns: isSized ? Int(size.ws_col) : nil
        )
    }

    func bold(_ text: String) -> String { hasStyles ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
}
