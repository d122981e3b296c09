import Foundation

/// The lines that were typed in this shell and in earlier ones.
struct ShellHistory: Equatable {
    /// The lines that are kept at most.
    static let capacity = 1000

    /// The lines, the oldest first. The number of a line is its place, counted from 1.
    private(set) var lines: [String]
    /// The lines of this shell that go into the file.
    private(set) var added: [String] = []

    init(_ lines: [String] = []) { self.lines = lines }

    /// Takes a line that was typed, unless it is the last one again or begins with a space, which asks for that.
    ///
    /// - Parameter isKept: Whether later shells may know it as well.
    mutating func add(_ line: String, isKept: Bool) {
        guard !line.isEmpty, line.first != " ", line != lines.last else { return }
        lines.append(line)
        if isKept { added.append(line) }
    }

    /// The line that `!!` or `!7` means; another line is itself.
    func line(meantBy line: String) throws(CommandError) -> String {
        let word = line.trimmingCharacters(in: .whitespaces)
        guard let match = word.wholeMatch(of: #/!(!|[0-9]+)/#) else { return line }
        let number = match.1 == "!" ? lines.count : Int(match.1) ?? 0
        guard lines.indices.contains(number - 1) else {
            throw CommandError(#"There is no line \#(word): \s lists them."#, .usage)
        }
        return lines[number - 1]
    }

    /// The lines with their numbers.
    var listing: String {
        let width = String(lines.count).count
        return lines.enumerated().map { index, line in
            String(index + 1).padded(to: width, onTheRight: false) + "  " + line.visible + "\n"
        }
        .joined()
    }

    // MARK: The file

    /// The lines of a file: a JSON string per line, since a line of the shell may have line breaks in its quotes. What
    /// is damaged is left out.
    static func lines(of content: Data) -> [String] {
        content.split(separator: UInt8(ascii: "\n")).compactMap { line in
            try? JSONDecoder().decode(String.self, from: line)
        }
    }

    /// The content of the file when this shell ends.
    ///
    /// - Parameter earlier: The content that it has then: other shells may have written it meanwhile.
    func content(after earlier: Data) -> Data {
        let all = (Self.lines(of: earlier) + added).suffix(Self.capacity)
        return Data(all.map { OutputValue.text($0).json + "\n" }.joined().utf8)
    }
}
