package import Foundation

/// The folder of the generated files, which may also contain files of the user.
///
/// The tool recognizes its own files by their first line. It never overwrites or removes another file.
package struct GeneratedFolder {
    package let url: URL
    /// The intended texts by file name.
    private let wanted: [String: String]

    /// - Parameter snapshot: The snapshot from which the files are generated.
    package init(_ url: URL, for snapshot: SnapshotFolder) {
        self.url = url
        let source = ModelSource(access: snapshot.settings.access)
        wanted = Dictionary(
            snapshot.entries.map { ("\($0.layout.swift).swift", source.file(of: $0.layout, origin: $0.file)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// A file that differs from its intended text.
    package struct Difference: Equatable, Sendable {
        package var file: String
        /// The file's text; `nil` if it does not exist.
        package var found: String?
        /// The intended text; `nil` if the file is to be removed.
        package var wanted: String?
    }

    /// The differences from the intended texts, sorted by file name.
    package func differences() throws -> [Difference] {
        var differences: [Difference] = []
        for (file, text) in wanted {
            let found = try SourceFiles.text(of: file, in: url)
            if found != text { differences.append(Difference(file: file, found: found, wanted: text)) }
        }
        for file in try SourceFiles.names(in: url, withExtension: "swift") where wanted[file] == nil {
            let found = try SourceFiles.text(of: file, in: url)
            if Self.isOwn(found) { differences.append(Difference(file: file, found: found, wanted: nil)) }
        }
        return differences.sorted { SchemaName($0.file) < SchemaName($1.file) }
    }

    /// Gives the files their intended texts. Throws if a file to be changed is not the tool's own.
    package func write(_ differences: [Difference]) throws {
        var change = FolderChange()
        for difference in differences {
            guard difference.found == nil || Self.isOwn(difference.found) else {
                throw SnapshotError(
                    file: url.appendingPathComponent(difference.file).path,
                    reason: "is not a file of fmdata, and stands where one is to be; give it another name"
                )
            }
            if let text = difference.wanted {
                change.texts[difference.file] = text
            } else {
                change.removed.append(difference.file)
            }
        }
        try change.apply(to: url)
    }

    private static func isOwn(_ text: String?) -> Bool { text?.hasPrefix(ModelSource.mark) ?? false }
}
