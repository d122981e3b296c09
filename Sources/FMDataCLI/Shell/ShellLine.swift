import Foundation

/// The line at the prompt, as a state machine over what the terminal hands over.
///
/// The terminal itself edits the line: it shows what is typed, erases characters and words, and hands the line over at
/// its end. There is no editor here, and no library for one: those that exist are C libraries of the system, whose
/// headers everybody would need who builds the package. `rlwrap` puts one of them before the shell.
///
/// Two settings of the terminal give completion. Tab ends the input as a line break does, so that the line is handed
/// over up to there. What was handed over is no longer the terminal's to erase, so from then on the erase key ends the
/// input as well, and one character is taken away here.
struct ShellLine: Equatable {
    enum Action: Equatable {
        /// Writes to the terminal.
        case write(String)
        /// Completes the line, and calls ``completed(_:)``.
        case complete(String)
        /// Runs the line.
        case submit(String)
        /// Ends the shell.
        case end
    }

    private let name: String
    /// The columns of the window.
    var columns = 80
    /// Whether the terminal can move its cursor.
    private let canErase: Bool
    /// The line up to the last Tab.
    private(set) var taken = ""
    /// The lines before, if a quote is open in them.
    private var earlier = ""
    private var hasEnded = false

    /// - Parameter name: What the prompt says.
    init(name: String, canErase: Bool = true) {
        self.name = name.visible
        self.canErase = canErase
    }

    private var prompt: String { earlier.isEmpty ? "\(name)=> " : "\(name)'> " }

    /// Begins a line.
    mutating func begin() -> [Action] {
        (taken, earlier, hasEnded) = ("", "", false)
        return [.write(prompt)]
    }

    /// Takes what was typed: a line with its end, a part of one with the key that has ended it, or nothing at the end
    /// of the input.
    ///
    /// - Parameter erase: The byte of the erase key.
    mutating func received(_ bytes: [UInt8], erase: UInt8) -> [Action] {
        guard let last = bytes.last else { return end() }
        hasEnded = false
        func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
        let before = taken
        switch last {
        case UInt8(ascii: "\n"):
            let line = taken + text(bytes.dropLast())
            taken = ""
            return ended(line)
        case UInt8(ascii: "\t"):
            // Other tabs were pressed while a command ran, and nobody has seen them.
            taken += text(bytes.filter { $0 != last })
            // Inside quotes over several lines stands a text, and no name.
            return earlier.isEmpty ? [.complete(taken)] : redrawn(before: taken)
        case erase where !before.isEmpty:
            taken += text(bytes.dropLast())
            let typed = taken
            taken = String(taken.dropLast())
            return redrawn(before: typed + "^?")
        default:
            // Ctrl-D in the middle of a line hands it over as well.
            taken += text(bytes)
            return []
        }
    }

    /// Ctrl-D on an empty line ends the shell. A terminal that has gone says the same again and again.
    private mutating func end() -> [Action] {
        if hasEnded || taken.isEmpty && earlier.isEmpty { return [.write("\n"), .end] }
        hasEnded = true
        return [.write("\u{7}")]
    }

    private mutating func ended(_ line: String) -> [Action] {
        if line.unicodeScalars.contains("\u{1B}") {
            // Sent by keys such as the arrows, which nobody has meant as a text.
            return [
                .write("The terminal edits the line here, and has no arrows: !! repeats the last one, \\s lists all.\n")
            ] + begin()
        }
        let whole = earlier + line
        guard ShellWords(whole).openQuote != nil, !ShellInstruction.isOne(whole) else {
            earlier = ""
            return [.submit(whole)]
        }
        earlier = whole + "\n"
        return [.write(prompt)]
    }

    /// Takes the line after a completion, and shows what may be meant if there is more than that.
    mutating func completed(_ result: ShellCompletion.Result) -> [Action] {
        let before = taken
        taken = result.line
        guard !result.candidates.isEmpty else {
            let bell: [Action] = before == taken ? [.write("\u{7}")] : []
            return bell + redrawn(before: before)
        }
        return [.write("\n" + Self.columns(of: result.candidates, width: columns) + prompt + taken.visible)]
    }

    /// Drops the line, after Ctrl-C.
    mutating func interrupted() -> [Action] { [.write("\n")] + begin() }

    /// Shows prompt and line anew, in the place where they are.
    ///
    /// - Parameter before: What was shown behind the prompt.
    private func redrawn(before: String) -> [Action] {
        guard canErase else { return [.write("\n" + prompt + taken.visible)] }
        let rows = max(0, (prompt + before).displayWidth - 1) / max(1, columns)
        return [.write((rows > 0 ? "\u{1B}[\(rows)A" : "") + "\r\u{1B}[J" + prompt + taken.visible)]
    }

    /// Names in columns, as wide as the longest.
    private static func columns(of names: [String], width: Int) -> String {
        let names = names.map(\.visible)
        let cell = (names.map(\.displayWidth).max() ?? 0) + 2
        let perLine = max(1, width / cell)
        return stride(from: 0, to: names.count, by: perLine).map { start in
            names[start..<min(start + perLine, names.count)].map { $0.padded(to: cell) }.joined().withoutSpacesAtEnd
                + "\n"
        }
        .joined()
    }
}
