/// Lays out rows for people: in columns if these fit into the window, else with one field per line.
///
/// The first rows decide which, and how wide the columns are. They wait in memory until there are enough of them.
struct TablePrinter {
    /// The number of rows that decide.
    static let sampleSize = 200

    private let columns: [OutputColumn]
    private let style: TerminalStyle
    private let isExpanded: Bool
    private var sample: [OutputRow] = []
    private var layout: Layout?
    private var rowCount = 0

    private enum Layout {
        case columns(widths: [Int])
        case lines(nameWidth: Int)
    }

    init(_ columns: [OutputColumn], _ style: TerminalStyle, isExpanded: Bool = false) {
        self.columns = columns.map { OutputColumn($0.name.visible, isNumber: $0.isNumber) }
        self.style = style
        self.isExpanded = isExpanded
    }

    /// The text to print now, with this row as the next one.
    mutating func text(of row: OutputRow) -> String {
        if let layout { return text(of: row, layout) }
        sample.append(row)
        return sample.count < Self.sampleSize ? "" : rest()
    }

    /// The text of the rows that wait.
    mutating func rest() -> String {
        guard layout == nil else { return "" }
        let rows = sample
        sample = []
        let layout = layout(for: rows)
        self.layout = layout
        guard !rows.isEmpty else { return "" }
        var text = ""
        if case .columns(let widths) = layout {
            text =
                line(columns.map(\.name), widths, style.bold)
                + line(widths.map { String(repeating: "-", count: $0) }, widths)
        }
        return rows.reduce(into: text) { $0 += self.text(of: $1, layout) }
    }

    // MARK: Layout

    private func layout(for rows: [OutputRow]) -> Layout {
        let natural = columns.indices.map { index in
            rows.reduce(columns[index].name.displayWidth) { width, row in
                max(width, shown(row, index).displayWidth)
            }
        }
        if isExpanded || rows.contains(where: { !$0.details.isEmpty }) { return lines }
        guard let limit = style.columns else { return .columns(widths: natural) }
        // Long values are cut before the columns are given up.
        for longest in [Int.max, 48, 24] {
            let widths = natural.enumerated().map { index, width in
                max(columns[index].name.displayWidth, min(width, longest))
            }
            if widths.reduce(2 * (widths.count - 1), +) <= limit { return .columns(widths: widths) }
        }
        return lines
    }

    private var lines: Layout { .lines(nameWidth: columns.map(\.name.displayWidth).max() ?? 0) }

    /// The text of a cell in a line. A tree is shown by the first cell of each row.
    private func shown(_ row: OutputRow, _ index: Int) -> String {
        let cell = row.cells[index].visible
        return index == 0 ? String(repeating: "  ", count: row.depth) + cell : cell
    }

    private mutating func text(of row: OutputRow, _ layout: Layout) -> String {
        rowCount += 1
        switch layout {
        case .columns(let widths): return line(columns.indices.map { shown(row, $0) }, widths)
        case .lines(let nameWidth):
            let fields = zip(columns, row.cells).map { column, cell in
                self.field(column.name, cell, nameWidth)
            }
            let details = row.details.filter { !$0.rows.isEmpty }.map(text(of:))
            return (rowCount > 1 ? "\n" : "") + fields.joined() + details.joined()
        }
    }

    private func line(_ cells: [String], _ widths: [Int], _ style: (String) -> String = { $0 }) -> String {
        let texts = zip(cells, widths).enumerated().map { index, pair in
            let (cell, width) = pair
            let text = self.style.columns == nil ? cell : cell.cut(to: width)
            return text.padded(to: width, onTheRight: !columns[index].isNumber)
        }
        return style(texts.joined(separator: "  ").withoutSpacesAtEnd) + "\n"
    }

    private func field(_ name: String, _ value: String, _ nameWidth: Int) -> String {
        let indentation = String(repeating: " ", count: nameWidth + 2)
        let lines = value.lines.map(\.visible)
        let first =
            style.bold(name.padded(to: nameWidth)) + (lines.first == "" ? "" : "  ") + (lines.first ?? "")
        return ([first] + lines.dropFirst().map { indentation + $0 }).map { $0 + "\n" }.joined()
    }

    private func text(of detail: OutputRow.Detail) -> String {
        var printer = TablePrinter(detail.columns, TerminalStyle(columns: nil, hasStyles: style.hasStyles))
        var text = style.bold(detail.name.visible) + "\n"
        for cells in detail.rows { text += printer.text(of: OutputRow(cells: cells, object: .null)) }
        text += printer.rest()
        return text.split(separator: "\n").enumerated().map { ($0 > 0 ? "  " : "") + $1 + "\n" }.joined()
    }
}

extension TerminalStyle {
    init(columns: Int?, hasStyles: Bool) {
        self.columns = columns
        self.hasStyles = hasStyles
    }
}
