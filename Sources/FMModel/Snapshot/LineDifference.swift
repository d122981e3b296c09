/// The difference of two texts by lines, in the format of `diff -u`.
package struct LineDifference {
    /// A line of the old text, of the new one, or of both.
    private enum Line {
        case both(Substring)
        case old(Substring)
        case new(Substring)

        var isChange: Bool { if case .both = self { false } else { true } }

        var text: String {
            switch self {
            case .both(let line): " \(line)"
            case .old(let line): "-\(line)"
            case .new(let line): "+\(line)"
            }
        }
    }

    /// The difference; empty if there is none.
    package let text: String

    /// - Parameters:
    ///   - old: The old text; `nil` if the file does not exist.
    ///   - new: The new text; `nil` if the file is to be removed.
    package init(_ file: String, old: String?, new: String?) {
        guard old != new else {
            text = ""
            return
        }
        let lines = Self.lines(of: old ?? "", and: new ?? "")
        let heads = ["--- \(old == nil ? "/dev/null" : "a/\(file)")", "+++ \(new == nil ? "/dev/null" : "b/\(file)")"]
        text = (heads + Self.hunks(lines)).joined(separator: "\n") + "\n"
    }

    private static func lines(of old: String, and new: String) -> [Line] {
        let old = split(old)
        let new = split(new)
        let difference = new.map(ExactLine.init).difference(from: old.map(ExactLine.init))
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [Line] = []
        var (oldIndex, newIndex) = (0, 0)
        while oldIndex < old.count || newIndex < new.count {
            if removed.contains(oldIndex) {
                lines.append(.old(old[oldIndex]))
                oldIndex += 1
            } else if inserted.contains(newIndex) {
                lines.append(.new(new[newIndex]))
                newIndex += 1
            } else {
                lines.append(.both(new[newIndex]))
                oldIndex += 1
                newIndex += 1
            }
        }
        return lines
    }

    /// A line that is compared byte by byte, so that lines that differ only in their Unicode form are different.
    private struct ExactLine: Hashable {
        var name: SchemaName
        init(_ line: Substring) { name = SchemaName(String(line)) }
    }

    private static func split(_ text: String) -> [Substring] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    /// The changes with up to three unchanged lines around them.
    private static func hunks(_ lines: [Line]) -> [String] {
        let context = 3
        var result: [String] = []
        var (oldLine, newLine) = (1, 1)
        var index = 0
        while index < lines.count {
            guard let change = lines[index...].firstIndex(where: \.isChange) else { break }
            let start = max(index, change - context)
            var end = change
            var last = change
            while end < lines.count, end - last <= 2 * context + 1 {
                if lines[end].isChange { last = end }
                end += 1
            }
            end = min(lines.count, last + context + 1)
            oldLine += start - index
            newLine += start - index
            let hunk = lines[start..<end]
            let oldCount = hunk.count { if case .new = $0 { false } else { true } }
            let newCount = hunk.count { if case .old = $0 { false } else { true } }
            // In `diff -u`, the range of a file without lines begins at line 0.
            result.append("@@ -\(range(oldLine, oldCount)) +\(range(newLine, newCount)) @@")
            result += hunk.map(\.text)
            oldLine += oldCount
            newLine += newCount
            index = end
        }
        return result
    }

    private static func range(_ first: Int, _ count: Int) -> String { "\(count == 0 ? first - 1 : first),\(count)" }
}
