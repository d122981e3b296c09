package import Foundation

/// A folder with models: the snapshot in `FileMaker`, the Swift files in `Generated`, and any other files of the user.
package struct ModelFolder: Sendable {
    /// The name of the snapshot's folder.
    package static let snapshotName = "FileMaker"
    /// The name of the folder of generated files.
    package static let generatedName = "Generated"

    private let url: URL

    package init(_ url: URL) { self.url = url }

    /// The URL of the snapshot's folder.
    package var snapshotURL: URL { url.appendingPathComponent(Self.snapshotName, isDirectory: true) }

    /// Reads the snapshot.
    package func snapshot() throws -> SnapshotFolder { try SnapshotFolder(reading: snapshotURL) }

    /// The folder of the generated files, with their intended texts. Throws if the snapshot has no layout.
    package func generated() throws -> GeneratedFolder {
        let snapshot = try snapshot()
        guard !snapshot.entries.isEmpty else {
            throw SnapshotError(file: snapshotURL.path, reason: "holds no layout; `fmdata schema fetch` writes them")
        }
        return GeneratedFolder(url.appendingPathComponent(Self.generatedName, isDirectory: true), for: snapshot)
    }
}

extension GeneratedFolder {
    /// Gives the files their intended texts. Returns one line for each file that was made, changed or removed.
    package func generate() throws -> [String] {
        let differences = try differences()
        try write(differences)
        return differences.map { difference in
            let verb = difference.wanted == nil ? "removed" : difference.found == nil ? "made" : "changed"
            return "\(verb) \(Self.place(of: difference))"
        }
    }

    /// The differences from the intended texts in the format of `diff -u`; empty if there are none.
    package func check() throws -> String {
        try differences().map { LineDifference(Self.place(of: $0), old: $0.found, new: $0.wanted).text }.joined()
    }

    private static func place(of difference: Difference) -> String {
        "\(ModelFolder.generatedName)/\(difference.file)"
    }
}
