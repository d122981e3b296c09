package import Foundation

/// A folder with models: the snapshot in `FileMaker`, the Swift files in `Generated`, and anything else of the user's.
package struct ModelFolder: Sendable {
    /// The name of the snapshot's folder.
    package static let snapshotName = "FileMaker"
    /// The name of the folder of generated files.
    package static let generatedName = "Generated"

    private let url: URL

    package init(_ url: URL) { self.url = url }

    /// Where the snapshot is.
    package var snapshotURL: URL { url.appendingPathComponent(Self.snapshotName, isDirectory: true) }

    /// What the snapshot says.
    package func snapshot() throws -> SnapshotFolder { try SnapshotFolder(reading: snapshotURL) }

    /// Where the Swift files are, and what they are to be.
    package func generated() throws -> GeneratedFolder {
        let snapshot = try snapshot()
        guard !snapshot.entries.isEmpty else {
            throw SnapshotError(file: snapshotURL.path, reason: "holds no layout; `fmdata schema fetch` writes them")
        }
        return GeneratedFolder(url.appendingPathComponent(Self.generatedName, isDirectory: true), for: snapshot)
    }
}

extension GeneratedFolder {
    /// Makes the files what they are to be, and says what was done, a line for each file.
    package func generate() throws -> [String] {
        let differences = try differences()
        try write(differences)
        return differences.map { difference in
            let verb = difference.wanted == nil ? "removed" : difference.found == nil ? "made" : "changed"
            return "\(verb) \(Self.place(of: difference))"
        }
    }

    /// What differs from what is to be, as `diff -u` shows it; empty when nothing does.
    package func check() throws -> String {
        try differences().map { LineDifference(Self.place(of: $0), old: $0.found, new: $0.wanted).text }.joined()
    }

    private static func place(of difference: Difference) -> String {
        "\(ModelFolder.generatedName)/\(difference.file)"
    }
}
