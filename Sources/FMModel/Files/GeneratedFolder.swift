package import Foundation

/// The folder of the generated files, which may hold files of the user's too.
///
/// The tool's own are known by their first line. No other file is ever overwritten or removed.
package struct GeneratedFolder {
    package let url: URL
    /// Texts by the names of files, as they are to be.
    private let wanted: [String: String]

    /// - Parameter snapshot: what the files are made of.
    package init(_ url: URL, for snapshot: SnapshotFolder) {
        self.url = url
        let source = ModelSource(access: snapshot.settings.access)
        wanted = Dictionary(
            snapshot.entries.map { ("\($0.layout.swift).swift", source.file(of: $0.layout, origin: $0.file)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// A file that is not as it is to be.
    package struct Difference: Equatable, Sendable {
        package var file: String
        /// What it holds; `nil` when it is not there.
        package var found: String?
        /// What it is to hold; `nil` when it is to go.
        package var wanted: String?
    }

    /// What differs from what is to be, by the names of files.
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
        return differences.sorted { ExactName($0.file) < ExactName($1.file) }
    }

    /// Makes the files what they are to be.
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
