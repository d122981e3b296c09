import CustomDump
public import Foundation

/// Files of the repository that must be equal to what the code generates.
public enum Committed {
    /// The root of the repository.
    public static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Compares a text with a file. With `FMDATA_RECORD=1` in the environment it writes the file instead, to be
    /// reviewed before it is committed.
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
