import CustomDump
public import Foundation

/// Files of the repository that have to be what the code makes of what they are about.
public enum Committed {
    /// The repository.
    public static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Compares a text with a file. `FMDATA_RECORD=1` in the environment writes the file instead, for a person to look at before it
    /// is committed.
    ///
    /// - Parameter path: from the root of the repository.
    public static func expect(_ text: String, in path: String) throws {
        let file = root.appendingPathComponent(path)
        if ProcessInfo.processInfo.environment["FMDATA_RECORD"] == "1" {
            try Data(text.utf8).write(to: file)
        }
        let found = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        expectNoDifference(found, text, path)
    }
}
