package import Foundation

/// A folder with the snapshot of a database: a file for each of its layouts, and the settings.
package struct SnapshotFolder: Sendable {
    package let url: URL
    /// The settings from `fmdata.json`.
    package let settings: ModelSettings
    /// The layouts and their files, sorted by layout name.
    package let entries: [Entry]

    /// A layout and the name of its file.
    package struct Entry: Equatable, Sendable {
        package var file: String
        package var layout: LayoutSnapshot
    }

    /// The layouts, sorted by name.
    package var layouts: [LayoutSnapshot] { entries.map(\.layout) }

    /// Reads a folder. A folder that does not exist is treated as empty.
    package init(reading url: URL) throws {
        self.url = url
        let names = try SourceFiles.names(in: url, withExtension: "json")
        settings =
            try names.contains(ModelSettings.fileName)
            ? ModelSettings(reading: SourceFiles.data(of: ModelSettings.fileName, in: url))
            : ModelSettings()
        entries = try names.filter { $0 != ModelSettings.fileName }
            .map { name in
                let data = try SourceFiles.data(of: name, in: url)
                return Entry(file: name, layout: try LayoutSnapshot(reading: data, file: name))
            }
            .sorted { SchemaName($0.layout.layout) < SchemaName($1.layout.layout) }
        try checkNames()
    }

    private func checkNames() throws(SnapshotError) {
        var layouts: [SchemaName: String] = [:]
        var types: [String: String] = [:]
        for entry in entries {
            if let other = layouts.updateValue(entry.file, forKey: SchemaName(entry.layout.layout)) {
                throw SnapshotError(
                    file: entry.file,
                    reason: "layout \(Literal(entry.layout.layout)) has a file already, \(other)"
                )
            }
            // Each type gets a file of its own, also on disks that ignore case.
            if let other = types.updateValue(entry.file, forKey: entry.layout.swift.lowercased()) {
                throw SnapshotError(file: entry.file, reason: "\(entry.layout.swift) is the type of \(other) already")
            }
        }
    }

    /// The change that writes these layouts. A layout keeps its file, and a new one gets a file named like its type.
    package func change(to layouts: [LayoutSnapshot]) -> FolderChange {
        var change = FolderChange()
        let files = Dictionary(entries.map { (SchemaName($0.layout.layout), $0.file) }) { first, _ in first }
        for layout in layouts {
            change.texts[files[SchemaName(layout.layout)] ?? newFile(for: layout)] = layout.fileText
        }
        return change
    }

    private func newFile(for layout: LayoutSnapshot) -> String {
        let taken = Set(entries.map { $0.file.lowercased() } + [ModelSettings.fileName])
        var name = "\(layout.swift).json"
        while taken.contains(name.lowercased()) { name = "_" + name }
        return name
    }
}
