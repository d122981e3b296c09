import FMData

/// A list of names in folders: a tree for people, rows with the path of the folder for programs.
struct ListTree: Sendable {
    indirect enum Item: Sendable {
        case entry(name: String, detail: String?)
        case folder(name: String, items: [Item])
    }

    /// What the names are of: `layout`.
    let kind: String
    /// What stands behind the name; nil for nothing.
    let detail: String?
    let items: [Item]

    /// Whether an entry is a line of the menu: FileMaker stores it under this name.
    static func isLine(_ name: String) -> Bool { name == "-" }

    /// The names, whatever their folders.
    var names: [String] { rows(items, in: [], isTree: false).map { $0.cells[0] } }

    func print(_ options: OutputOptions) throws {
        let isTree = options.form == .table
        let columns = [kind, detail, isTree ? nil : "folder"].compactMap(\.self).map { OutputColumn($0) }
        try RowPrinter(columns, options).printAll(rows(items, in: [], isTree: isTree))
    }

    private func rows(_ items: [Item], in folder: [String], isTree: Bool) -> [OutputRow] {
        items.flatMap { item -> [OutputRow] in
            switch item {
            case .entry(let name, _) where Self.isLine(name): return []
            case .entry(let name, let value):
                var cells = [name]
                var object: [OutputValue.Member] = [.init(name: kind, value: .text(name))]
                if let detail {
                    cells.append(value ?? "")
                    if let value { object.append(.init(name: detail, value: .text(value))) }
                }
                if !isTree { cells.append(folder.joined(separator: "/")) }
                object.append(.init(name: "folder", value: .texts(folder)))
                return [OutputRow(cells: cells, object: .object(object), depth: isTree ? folder.count : 0)]
            case .folder(let name, let items):
                let rows = self.rows(items, in: folder + [name], isTree: isTree)
                guard isTree else { return rows }
                let cells = ["\(name)/"] + (detail == nil ? [] : [""])
                return [OutputRow(cells: cells, object: .null, depth: folder.count)] + rows
            }
        }
    }
}

extension DataAPI.Database.LayoutListItem {
    var listed: ListTree.Item {
        switch self {
        case .layout(let layout): .entry(name: layout.name, detail: layout.table)
        case .folder(let name, let layouts): .folder(name: name, items: layouts.map(\.listed))
        }
    }
}

extension DataAPI.Database.ScriptItem {
    var listed: ListTree.Item {
        switch self {
        case .script(let name): .entry(name: name, detail: nil)
        case .folder(let name, let scripts): .folder(name: name, items: scripts.map(\.listed))
        }
    }
}
