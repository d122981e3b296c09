import Foundation

/// The program that shows long output at a terminal page by page: `less`, or what `FMDATA_PAGER` or `PAGER` says.
///
/// A terminal is one for the whole process, and so is its pager. While it runs, the terminal is its own: lines for
/// standard error wait until it has ended, and no progress is shown.
final class Pager: Sendable {
    static let shared = Pager()

    private struct State: Sendable {
        var program: ChildProgram?
        /// The end of its standard input to write to; nil if it is closed.
        var input: Int32?
        var lines: [String] = []
    }

    private let state = LockedValue(State())

    private init() {}

    /// The command line of the pager; nil for none.
    ///
    /// - Parameter hasLess: Whether `less` is installed.
    static func command(environment: [String: String], hasLess: Bool) -> String? {
        let command = environment["FMDATA_PAGER"] ?? environment["PAGER"] ?? (hasLess ? "less" : "")
        // A terminal that cannot move its cursor has no pages.
        guard environment["TERM"].map({ $0 != "dumb" && !$0.isEmpty }) ?? false else { return nil }
        return ["", "cat"].contains(command) ? nil : command
    }

    /// Where output for the terminal goes: into the pager, which is started if it does not run yet. Nil if there is no
    /// pager.
    func input() -> Int32? {
        state.change { state in
            if let input = state.input { return input }
            let environment = ProcessInfo.processInfo.environment
            let paths = (environment["PATH"] ?? "").split(separator: ":")
            let hasLess = paths.contains { FileManager.default.isExecutableFile(atPath: "\($0)/less") }
            guard state.program == nil, let command = Self.command(environment: environment, hasLess: hasLess),
                let pipe = try? ChildProgram.pipe()
            else { return nil }
            defer { close(pipe.reading) }
            // `less` is to end by itself if everything fits on the screen, to show styles, and to leave its text there.
            let isSet = environment["LESS"] != nil
            let words = ["sh", "-c", command]
            do {
                state.program = try ChildProgram(words, variables: isSet ? [:] : ["LESS": "FRX"], input: pipe.reading)
            } catch {
                close(pipe.writing)
                return nil
            }
            // A pager that is left early is no reason for a signal, and one that waits for its reader none to hang.
            signal(SIGPIPE, SIG_IGN)
            _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
            ProgressLine.shared.pause()
            state.input = pipe.writing
            return pipe.writing
        }
    }

    /// Keeps a line for standard error until the pager has ended; returns false if none runs.
    func keep(_ line: String) -> Bool {
        state.change { state in
            if state.program != nil { state.lines.append(line) }
            return state.program != nil
        }
    }

    /// Tells the pager that there is no more.
    func endInput() {
        state.change { state in
            if let input = state.input { close(input) }
            state.input = nil
        }
    }

    /// Waits until the user has left the pager, then says what was kept. Returns whether it has shown anything: its
    /// command may be wrong.
    func end() async -> Bool {
        endInput()
        guard let program = state.value.program else { return true }
        // Ctrl-C goes to all programs at the terminal, and is the pager's now.
        let effect = signal(SIGINT, SIG_IGN)
        let status = await program.end()
        signal(SIGINT, effect)
        ProgressLine.shared.resume()
        let lines = state.change { state in
            defer { state = State() }
            return state.lines
        }
        for line in lines { note(line) }
        // A shell's own statuses for a program that is not there, or is none.
        guard status == 126 || status == 127 else { return true }
        note("The pager cannot be started: set FMDATA_PAGER to another one, or to nothing.")
        return false
    }
}
